# points: 7.5
# base: release
# why: everything right: the backward pass lets autograd differentiate one rebuilt step at a time

# %% recomputed
def one_step(x, h, c, weight_ih, weight_hh, bias_ih, bias_hh):
    gates = nn.functional.linear(x, weight_ih, bias_ih) + nn.functional.linear(h, weight_hh, bias_hh)
    i, f, g, o = gates.chunk(4, 1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


class Recomputed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, h0, c0, *weights):
        T, N, _ = x.shape
        states = x.new_empty(2, T, N, h0.shape[1])
        h, c = h0, c0
        for t in range(T):
            h, c = one_step(x[t], h, c, *weights)
            states[0, t], states[1, t] = h, c
        ctx.save_for_backward(x, h0, c0, *weights, states)
        return states[0].clone(), c

    @staticmethod
    def backward(ctx, grad_h, grad_c):
        x, h0, c0, *weights, states = ctx.saved_tensors
        totals = [torch.zeros_like(w) for w in weights]
        grad_x, dh, dc = torch.zeros_like(x), torch.zeros_like(h0), grad_c
        for t in range(len(x) - 1, -1, -1):
            h, c = (h0, c0) if t == 0 else states[:, t - 1]
            with torch.enable_grad():
                leaves = [v.detach().requires_grad_() for v in (x[t], h, c, *weights)]
                outputs = one_step(*leaves)
            grad_x[t], dh, dc, *parts = torch.autograd.grad(outputs, leaves, (dh + grad_h[t], dc))
            for total, part in zip(totals, parts):
                total += part
        return grad_x, dh, dc, *totals


# %% path
from itertools import groupby


def path(layers, T):
    total = 0
    for kind, group in groupby(layers):
        number = len(list(group))
        total += {"attention": 6 * number, "both": T * number, "forward": T + number - 1}[kind]
    return total


def crossover(gates, d, f):
    T = 1
    while 4 * d * d + 2 * d * f + 2 * T * d <= gates * 2 * d * d:
        T += 1
    return T


# %% states
def lstm_state(L, d, N):
    numbers = 0
    for layer in range(L):
        numbers += N * d + N * d
    return numbers * 4


def cache(L, d, N, t):
    return t * lstm_state(L, d, N)


def served(budget, L, d, t):
    transformer = lstm = 0
    while cache(L, d, transformer + 1, t) <= budget:
        transformer += 1
    while lstm_state(L, d, lstm + 1) <= budget:
        lstm += 1
    return transformer, lstm
