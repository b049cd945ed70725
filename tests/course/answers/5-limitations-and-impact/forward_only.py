# points: 4.5
# base: solution
# why: the Function has a forward pass and no backward pass

# %% recomputed
class Recomputed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh):
        h, c, hidden, cells = h0, c0, [], []
        for x_t in x:
            sums = x_t @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh
            i, f, g, o = sums.chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            hidden.append(h)
            cells.append(c)
        hidden, cells = torch.stack(hidden), torch.stack(cells)
        ctx.save_for_backward(x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh, hidden, cells)
        return hidden, c

    @staticmethod
    def backward(ctx, dhidden, dc):
        raise RuntimeError("the backward pass is not there yet")
