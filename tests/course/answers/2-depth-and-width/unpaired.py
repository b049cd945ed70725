# points: 6.0
# base: solution
# why: resamples the arms apart from one another, at a fixed level, and lets any seeds pass

# %% paired-interval
def paired_interval(one, two, level=0.95, resamples=10_000, seed=0):
    generator = torch.Generator().manual_seed(seed)
    means = []
    for arm in (one, two):
        values = torch.tensor(list(arm.values()), dtype=torch.float64)
        draws = torch.randint(len(values), (resamples, len(values)), generator=generator)
        means.append(values[draws].mean(1))
    change = means[1] - means[0]
    ends = change.quantile(torch.tensor([0.025, 0.975], dtype=torch.float64))
    mean = sum(two.values()) / len(two) - sum(one.values()) / len(one)
    return mean, *ends.tolist()
