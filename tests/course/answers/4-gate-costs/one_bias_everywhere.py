# points: 6.0
# base: solution
# why: the minimal count has no second bias in the GRU, and PyTorch's count has one vector in place of two

# %% parameters
def parameters(cell, D, H, bias, layers=1, directions=1):
    gates = {"rnn": 1, "gru": 3, "lstm": 4}[cell]
    total = 0
    for layer in range(layers):
        width = directions * H if layer else D
        total += directions * gates * H * (width + H + (bias != "none"))
    return total
