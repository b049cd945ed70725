# points: 4.0
# base: solution
# why: the gates are taken in the order i, f, o, g, and attention is counted with one of its two products

# %% recomputed
class Recomputed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh):
        h, c, hidden, cells = h0, c0, [], []
        for x_t in x:
            sums = x_t @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh
            i, f, o, g = sums.chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            hidden.append(h)
            cells.append(c)
        hidden, cells = torch.stack(hidden), torch.stack(cells)
        ctx.save_for_backward(x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh, hidden, cells)
        return hidden, c

    @staticmethod
    def backward(ctx, dhidden, dc):
        x, h0, c0, weight_ih, weight_hh, bias_ih, bias_hh, hidden, cells = ctx.saved_tensors
        h_before = torch.cat([h0.unsqueeze(0), hidden[:-1]])
        c_before = torch.cat([c0.unsqueeze(0), cells[:-1]])
        sums = x @ weight_ih.T + bias_ih + h_before @ weight_hh.T + bias_hh
        i, f, o, g = sums.chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        tanh_c = cells.tanh()

        dsums, dh = torch.empty_like(sums), torch.zeros_like(h0)
        for t in reversed(range(len(x))):
            dh = dh + dhidden[t]
            dc = dc + dh * o[t] * (1 - tanh_c[t] ** 2)
            di, df, dg = dc * g[t], dc * c_before[t], dc * i[t]
            do = dh * tanh_c[t]
            dsums[t] = torch.cat(
                [
                    di * i[t] * (1 - i[t]),
                    df * f[t] * (1 - f[t]),
                    do * o[t] * (1 - o[t]),
                    dg * (1 - g[t] ** 2),
                ],
                -1,
            )
            dh, dc = dsums[t] @ weight_hh, dc * f[t]

        rows = dsums.flatten(0, 1)
        dbias = rows.sum(0)
        dweight_ih = rows.T @ x.flatten(0, 1)
        dweight_hh = rows.T @ h_before.flatten(0, 1)
        return dsums @ weight_ih, dh, dc, dweight_ih, dweight_hh, dbias, dbias


# %% path
def path(layers, T):
    chain, below = 0, None
    for layer in layers:
        chain += 6 if layer == "attention" else 1 if layer == below == "forward" else T
        below = layer
    return chain


def crossover(gates, d, f):
    return max(1, 2 * (gates * d - 2 * d - f) + 1)
