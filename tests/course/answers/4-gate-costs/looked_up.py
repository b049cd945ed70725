# points: 0.5
# base: solution
# why: asks rnnlib and live modules for what is to be derived

# %% parameters
def parameters(cell, D, H, bias, layers=1, directions=1):
    both = directions == 2
    if bias == "pytorch":
        kinds = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
        return sum(p.numel() for p in kinds[cell](D, H, layers, bidirectional=both).parameters())
    return StackSpec(cell, D, H, layers, bidirectional=both).parameters(bias)


# %% forget-bias
from rnnlib.init import forget_bias_ as open_gates


def forget_bias(lstm):
    return [
        (p + q).chunk(4)[1].detach()
        for (name, p), (_, q) in zip(lstm.named_parameters(), list(lstm.named_parameters())[1:])
        if "bias_ih" in name
    ]


def set_forget_bias(lstm, value=1.0):
    return open_gates(lstm, value)


# %% footprint
def footprint(D, H, T, N):
    spec = StackSpec("gru", D, H)
    return 4 * spec.parameters() + sum(spec.storage_terms(T, N).values())


def widest(budget, D, T, N):
    H = 1
    while footprint(D, H + 1, T, N) <= budget:
        H += 1
    return H
