# points: 12
# base: solution
# why: the input and the initial states are left out, and products that recompute repeats are not counted

# %% cost
def cost(cell, hidden_size, num_layers, scheme):
    spec = StackSpec(cell, D, hidden_size, num_layers)
    return spec.storage(T, N, scheme=scheme), spec.macs(T, N, training=True)


def fits(cell, hidden_size, num_layers, scheme):
    kept, macs = cost(cell, hidden_size, num_layers, scheme)
    return kept <= BYTES and macs <= MACS


def widest(cell, num_layers, scheme):
    width = 0
    while fits(cell, width + 1, num_layers, scheme):
        width += 1
    return width


# %% choice
CHOICE = {"cell": "gru", "hidden_size": 33, "num_layers": 1, "storage": "recompute"}
RIVAL = {"cell": "gru", "hidden_size": 15, "num_layers": 3, "storage": "recompute"}
