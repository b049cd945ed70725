# points: 5.5
# base: solution
# why: the recurrent weights are paired with the state after the step, and c is missing from the state

# %% recomputed, changed
# - dweight_hh = rows.T @ h_before.flatten(0, 1)
# + dweight_hh = rows.T @ hidden.flatten(0, 1)

# %% states
def lstm_state(L, d, N):
    return 4 * L * d * N


def cache(L, d, N, t):
    return 4 * 2 * L * d * N * t


def served(budget, L, d, t):
    return budget // cache(L, d, 1, t), budget // lstm_state(L, d, 1)
