# points: 4.5
# base: solution
# why: every layer waits for the one below, the crossover is where both are equal, values are not in the cache

# %% path
def path(layers, T):
    return sum(6 if layer == "attention" else T for layer in layers)


def crossover(gates, d, f):
    return gates * d - 2 * d - f


# %% states
def lstm_state(L, d, N):
    return 4 * 2 * L * d * N


def cache(L, d, N, t):
    return 4 * L * d * N * t


def served(budget, L, d, t):
    return budget / cache(L, d, 1, t), budget / lstm_state(L, d, 1)
