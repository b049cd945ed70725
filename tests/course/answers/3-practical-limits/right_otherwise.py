# points: 8.5
# base: release
# why: everything right, with backward() and other formulas than the reference

# %% hand-on
def hand_on(x, h):
    if x.size(2) != h.size(2):
        return h
    return h.add(x)


# %% normalise
def normalise(h, gain, shift, eps=1e-5):
    centred = h - h.sum(2, keepdim=True) / h.shape[2]
    scale = torch.rsqrt((centred * centred).mean(2, keepdim=True) + eps)
    return centred * scale * gain + shift


# %% gru-step
def gru_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    H = h.shape[1]
    from_x = nn.functional.linear(x, weight_ih, bias_ih)
    from_h = nn.functional.linear(h, weight_hh, bias_hh)
    gates = torch.sigmoid(from_x[:, : 2 * H] + from_h[:, : 2 * H])
    reset, update = gates[:, :H], gates[:, H:]
    candidate = torch.tanh(from_x[:, 2 * H :] + reset * from_h[:, 2 * H :])
    return torch.lerp(candidate, h, update)


# %% gradient-norms
def gradient_norms(stack, x, y):
    stack.zero_grad()
    (stack(x)[0] - y).pow(2).mean().backward()
    norms = []
    for layer in range(stack.num_layers):
        own = [p for name, p in stack.named_parameters() if name.split("_l")[-1] == str(layer)]
        norms.append(torch.cat([p.grad.flatten() for p in own]).norm().item())
    return norms


def bottom_over_top(residual, seeds):
    quotients = []
    for seed in seeds:
        stack, x, y = case(8, residual, seed)
        bottom, *_, top = gradient_norms(stack, x, y)
        quotients.append(bottom / top)
    return torch.tensor(quotients).median().item()


# %% run
def run(layers, x, k):
    for index in range(len(layers)):
        output = layers[index](x)[0]
        if index + 1 >= k and output.shape[-1] == x.shape[-1]:
            output = output + x
        x = output
    return x


@torch.no_grad()
def silence(layers, k):
    for lstm in layers[k - 1 :]:
        i, f, g, o = (slice(n * lstm.hidden_size, (n + 1) * lstm.hidden_size) for n in range(4))
        for parameter in lstm.parameters():
            parameter[g] = 0
