# points: 6.5
# base: solution
# why: the gates are kept, so nothing is computed again and nothing is saved

# %% recomputed, changed
# - h, c, hidden, cells = h0, c0, [], []
# + h, c, hidden, cells, kept = h0, c0, [], [], []
# - cells.append(c)
# + cells.append(c)
# + kept.append(torch.cat([i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()], -1))
# - ctx.save_for_backward(x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh, hidden, cells)
# + weights = weight_ih, weight_hh, bias_ih, bias_hh
# + ctx.save_for_backward(x, h0, c0, *weights, hidden, cells, torch.stack(kept))
# - x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh, hidden, cells = ctx.saved_tensors
# + x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh, hidden, cells, sums = ctx.saved_tensors
# - sums = x @ weight_ih.T + bias_ih + h_before @ weight_hh.T + bias_hh
# - i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
