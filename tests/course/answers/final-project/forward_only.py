# points: 9.5
# base: solution
# why: the products of the forward pass alone are counted, so what was chosen does not fit

# %% cost
def cost(cell, hidden_size, num_layers, scheme):
    spec = StackSpec(cell, D, hidden_size, num_layers)
    return sum(spec.storage_terms(T, N, scheme=scheme).values()), spec.macs(T, N)


def fits(cell, hidden_size, num_layers, scheme):
    kept, macs = cost(cell, hidden_size, num_layers, scheme)
    return kept <= BYTES and macs <= MACS


def widest(cell, num_layers, scheme):
    width = 0
    while fits(cell, width + 1, num_layers, scheme):
        width += 1
    return width
