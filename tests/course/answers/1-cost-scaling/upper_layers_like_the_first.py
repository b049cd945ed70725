# points: 5.5
# base: solution
# why: every layer is counted with the input's width, and the count is repaired for one direction only

# %% forward-macs
def forward_macs(gates, m, d, L, T, N):
    return L * T * N * gates * d * (m + d)


# %% training-macs
def training_macs(gates, m, d, L, T, N):
    layer = gates * d * (m + d)
    forward = L * T * N * layer
    inputs = (L - 1) * T * N * gates * d * m
    return 2 * forward + inputs + (T - 1) * N * L * gates * d * d


# %% exposes
def exposes(m, d, L, bidirectional=False):
    return L > 1 and m != d


# %% repaired-count
def repaired_count(m, d, L, bidirectional=False):
    layers = 4 * d * (m + d + 2) + (L - 1) * 4 * d * (2 * d + 2)
    return 2 * layers if bidirectional else layers
