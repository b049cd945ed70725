# points: 6.5
# base: solution
# why: one less two, and the normal approximation in place of the bootstrap

# %% paired-interval
def paired_interval(one, two, level=0.95, resamples=10_000, seed=0):
    if set(one) != set(two) or len(one) < 2:
        raise ValueError(f"two={two!r}: expected the seeds of one={one!r}, at least two")
    change = torch.tensor([one[key] - two[key] for key in one], dtype=torch.float64)
    z = torch.distributions.Normal(0.0, 1.0).icdf(torch.tensor((1 + level) / 2)).item()
    error = z * change.std().item() / len(change) ** 0.5
    return change.mean().item(), change.mean().item() - error, change.mean().item() + error
