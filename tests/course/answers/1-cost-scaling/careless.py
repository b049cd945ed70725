# points: 6.0
# base: solution
# why: any stack is taken to expose the mistake, the second bias is gone, the width of a cell does not count

# %% exposes
def exposes(m, d, L, bidirectional=False):
    return L > 1


# %% repaired-count
def repaired_count(m, d, L, bidirectional=False):
    directions = 2 if bidirectional else 1
    widths = [m] + [directions * d] * (L - 1)
    return sum(directions * 4 * d * (width + d + 1) for width in widths)


# %% least-ticks
def least_ticks(T, L, P):
    return max(T + L - 1, -(-T * L // P))


def first_done(one, two, P):
    ticks = [least_ticks(T, L, P) for T, L, d in (one, two)]
    return 1 + ticks.index(min(ticks))
