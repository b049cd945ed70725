# points: 6.0
# base: solution
# why: the residual is dropped rather than repaired, and norms of parameters are added up as they are

# %% hand-on
def hand_on(x, h):
    return h


# %% gradient-norms
def gradient_norms(stack, x, y):
    stack.zero_grad()
    nn.functional.mse_loss(stack(x)[0], y).backward()
    norms = []
    for layer in range(stack.num_layers):
        own = [p.grad for name, p in stack.named_parameters() if name.endswith(f"_l{layer}")]
        norms.append(sum(gradient.norm().item() for gradient in own))
    return norms


def bottom_over_top(residual, seeds):
    ratios = []
    for seed in seeds:
        norms = gradient_norms(*case(8, residual, seed))
        ratios.append(norms[0] / norms[-1])
    return median(ratios)
