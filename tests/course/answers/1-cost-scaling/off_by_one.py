# points: 5.0
# base: solution
# why: the state gradient is taken at every step, the wavefront is a tick too long, the last step is missing

# %% training-macs
def training_macs(gates, m, d, L, T, N):
    forward = forward_macs(gates, m, d, L, T, N)
    return 2 * forward + T * N * ((L - 1) * gates * d * d + L * gates * d * d)


# %% least-ticks
def least_ticks(T, L, P):
    return max(T + L, -(-T * L // P))


def first_done(one, two, P):
    times = [8 * d * d * least_ticks(T, L, P) for T, L, d in (one, two)]
    return 1 + times.index(min(times))


# %% timetable
def timetable(T, L, P):
    cells = []
    for tick in range(T + L):
        for layer in range(L):
            if 0 <= tick - layer < T - 1:
                cells.append((tick, layer, tick - layer))
    return cells
