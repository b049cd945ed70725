# points: 8.0
# base: solution
# why: whatever is ready goes, lowest layer first; with fewer workers than layers that takes too long

# %% timetable
def timetable(T, L, P):
    cells, done, tick = [], [0] * L, 0
    while done[-1] < T:
        ready = [l for l in range(L) if done[l] < (done[l - 1] if l else T)][:P]
        for layer in ready:
            cells.append((tick, layer, done[layer]))
        for layer in ready:
            done[layer] += 1
        tick += 1
    return cells
