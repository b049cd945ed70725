# points: 8.5
# base: release
# why: everything right, written another way than the reference

# %% forward-macs
def layer_widths(m, d, L):
    return [m if layer == 0 else d for layer in range(L)]


def forward_macs(gates, m, d, L, T, N):
    total = 0
    for width in layer_widths(m, d, L):
        total += N * T * gates * (width * d + d**2)
    return total


# %% training-macs
def training_macs(gates, m, d, L, T, N):
    wanted = 0
    for layer, width in enumerate(layer_widths(m, d, L)):
        from_input, from_state = T * N * gates * d * width, T * N * gates * d * d
        wanted += 2 * (from_input + from_state)
        if layer > 0:
            wanted += from_input
        wanted += from_state - N * gates * d * d
    return wanted


# %% exposes
def exposes(m, d, L, bidirectional=False):
    if L == 1:
        return False
    return not (m == 2 * d if bidirectional else m == d)


# %% repaired-count
def repaired_count(m, d, L, bidirectional=False):
    k = 1 + bidirectional
    first = 4 * d * m + 4 * d * d + 8 * d
    upper = 4 * d * k * d + 4 * d * d + 8 * d
    return k * (first + (L - 1) * upper)


# %% least-ticks
import math


def least_ticks(T, L, P):
    return max(T + L - 1, math.ceil(T * L / P))


def first_done(one, two, P):
    def duration(stack):
        steps, layers, width = stack
        return least_ticks(steps, layers, P) * 4 * width * 2 * width

    return 1 if duration(one) < duration(two) else 2


# %% timetable
def timetable(T, L, P):
    waiting = {(layer, step) for layer in range(L) for step in range(T)}
    tick, cells = 0, []
    while waiting:
        free = [
            (layer, step)
            for layer, step in waiting
            if (layer - 1, step) not in waiting and (layer, step - 1) not in waiting
        ]
        free.sort(key=lambda cell: (cell[0] + cell[1], cell[0]))
        chosen = free[:P]
        cells += [(tick, *cell) for cell in chosen]
        waiting.difference_update(chosen)
        tick += 1
    return cells
