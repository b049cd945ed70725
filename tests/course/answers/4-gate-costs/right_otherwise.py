# points: 8.5
# base: release
# why: everything right, written another way: shapes added up, half a bias in each vector, a root and a search

# %% parameters
def parameters(cell, D, H, bias, layers=1, directions=1):
    rows = dict(rnn=H, gru=3 * H, lstm=4 * H)[cell]
    per_gate = {"none": [], "single": [rows], "minimal": [rows], "pytorch": [rows, rows]}[bias]
    if (cell, bias) == ("gru", "minimal"):
        per_gate = [rows, H]
    inputs = [D] + [H * directions for _ in range(layers - 1)]
    shapes = []
    for i in inputs:
        for _ in range(directions):
            shapes += [(rows, i), (rows, H)] + [(n, 1) for n in per_gate]
    return sum(a * b for a, b in shapes)


# %% forget-bias
def forget_bias(lstm):
    found = []
    for layer in range(lstm.num_layers):
        for end in ("", "_reverse")[: 1 + lstm.bidirectional]:
            b = getattr(lstm, f"bias_ih_l{layer}{end}") + getattr(lstm, f"bias_hh_l{layer}{end}")
            found.append(b.detach().chunk(4)[1])
    return found


def set_forget_bias(lstm, value=1.0):
    if getattr(lstm, "mode", None) != "LSTM":
        raise ValueError("an LSTM was expected, not a " + lstm.__class__.__name__)
    with torch.no_grad():
        for name, p in lstm.named_parameters():
            if "bias" in name:
                p.view(4, -1)[1] = value / 2
    return lstm


# %% footprint
def footprint(D, H, T, N):
    tokens, gates = T * N, 3
    numbers = gates * D * H + gates * H * H + 2 * gates * H
    numbers += 5 * tokens * H
    numbers += N * H
    numbers += D * tokens
    return numbers * 4


def widest(budget, D, T, N):
    # 12 H^2 + b H + c <= budget, solved and then corrected for rounding
    b = 4 * (3 * D + 6 + 5 * T * N + N)
    c = 4 * T * N * D
    room = budget - c
    H = int((-b + max(b * b + 48 * room, 0) ** 0.5) / 24) + 2
    while H > 0 and footprint(D, H, T, N) > budget:
        H -= 1
    if H < 1:
        raise ValueError("no GRU fits into a budget of " + str(budget) + " bytes")
    return H
