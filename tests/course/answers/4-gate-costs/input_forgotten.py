# points: 4.5
# base: solution
# why: layers above the first read one direction only; the footprint leaves out the input of the first layer

# %% parameters
def parameters(cell, D, H, bias, layers=1, directions=1):
    gates = {"rnn": 1, "gru": 3, "lstm": 4}[cell]
    vectors = {"none": 0, "single": gates, "minimal": gates + (cell == "gru"), "pytorch": 2 * gates}[bias]
    return sum(directions * H * (gates * ((H if layer else D) + H) + vectors) for layer in range(layers))


# %% footprint
def footprint(D, H, T, N):
    return 4 * (3 * H * (D + H + 2) + T * N * 5 * H + N * H)


def widest(budget, D, T, N):
    H = 0
    while footprint(D, H + 1, T, N) <= budget and H < 10**5:
        H += 1
    if H == 0:
        raise ValueError(f"budget={budget} is too small")
    return H
