# points: 4.0
# base: solution
# why: the gates are taken in the order i, f, o, g, and attention is counted with one of its two products

# %% recomputed, changed
# - i, f, g, o = sums.chunk(4, -1)
# + i, f, o, g = sums.chunk(4, -1)
# - dg * (1 - g[t] ** 2),
# + do * o[t] * (1 - o[t]),
# - do * o[t] * (1 - o[t]),
# + dg * (1 - g[t] ** 2),

# %% path
def path(layers, T):
    chain, below = 0, None
    for layer in layers:
        chain += 6 if layer == "attention" else 1 if layer == below == "forward" else T
        below = layer
    return chain


def crossover(gates, d, f):
    return max(1, 2 * (gates * d - 2 * d - f) + 1)
