# points: 4.5
# base: solution
# why: one bias vector forgotten and the output layer left out; initial states are not counted

# %% real-width
def real_width(m, d, K):
    a, b, c = 3, m + 2, -(d * d + d * m + d)
    return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)


# %% nearest-width
def nearest_width(m, d, K):
    return round(real_width(m, d, K))


# %% kept-bytes
def kept_bytes(m, d, L, T, N):
    return 4 * T * N * (6 * d * L + m)
