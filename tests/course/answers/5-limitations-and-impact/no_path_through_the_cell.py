# points: 5.5
# base: solution
# why: the gradient of the cell is not carried from step to step

# %% recomputed, changed
# - dh, dc = dsums[t] @ weight_hh, dc * f[t]
# + dh, dc = dsums[t] @ weight_hh, torch.zeros_like(dc)
