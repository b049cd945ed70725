# points: 4.0
# base: solution
# why: takes half the width for the matched one, and counts kept vectors for a single layer only

# %% real-width
def real_width(m, d, K):
    return d / 2


# %% nearest-width
def nearest_width(m, d, K):
    return d // 2


# %% kept-bytes
def kept_bytes(m, d, L, T, N):
    return 4 * N * (T * (6 * d + m) + 2 * d)
