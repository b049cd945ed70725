# points: 5.5
# base: solution
# why: counts FLOPs where MACs are asked for, and takes training for three forward passes

# %% forward-macs
def forward_macs(gates, m, d, L, T, N):
    return 2 * T * N * gates * d * ((m + d) + (L - 1) * 2 * d)


# %% training-macs
def training_macs(gates, m, d, L, T, N):
    return 3 * forward_macs(gates, m, d, L, T, N)
