# points: 7.0
# base: solution
# why: gradients of an earlier batch are added, layer 1 takes in layer 10, and the ratio is upside down

# %% gradient-norms
def gradient_norms(stack, x, y):
    nn.functional.mse_loss(stack(x)[0], y).backward()
    norms = []
    for layer in range(stack.num_layers):
        own = [p.grad for name, p in stack.named_parameters() if f"_l{layer}" in name]
        norms.append(nn.utils.get_total_norm(own).item())
    return norms


def bottom_over_top(residual, seeds):
    ratios = []
    for seed in seeds:
        norms = gradient_norms(*case(8, residual, seed))
        ratios.append(norms[-1] / norms[0])
    return median(ratios)
