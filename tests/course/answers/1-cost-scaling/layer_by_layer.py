# points: 7.0
# base: solution
# why: the timetable takes the lowest layer first, and with one worker per layer it still works layer by layer

# %% least-ticks
def least_ticks(T, L, P):
    return T * L // min(P, L)


def first_done(one, two, P):
    times = [8 * d * d * least_ticks(T, L, P) for T, L, d in (one, two)]
    return 1 + times.index(min(times))


# %% timetable
def timetable(T, L, P):
    return [(layer * T + step, layer, step) for layer in range(L) for step in range(T)]
