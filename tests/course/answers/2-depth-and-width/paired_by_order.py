# points: 6.0
# base: solution
# why: pairs the runs in the order in which they are listed, and takes every size of training set into an arm

# %% paired-interval
def paired_interval(one, two, level=0.95, resamples=10_000, seed=0):
    if set(one) != set(two) or len(one) < 2:
        raise ValueError(f"two={two!r}: expected the seeds of one={one!r}, at least two")
    change = torch.tensor(list(two.values())) - torch.tensor(list(one.values()))
    draws = torch.randint(
        len(change), (resamples, len(change)), generator=torch.Generator().manual_seed(seed)
    )
    ends = torch.tensor([(1 - level) / 2, (1 + level) / 2])
    return change.double().mean().item(), *change[draws].mean(1).quantile(ends).tolist()


# %% arm
def arm(rows, variant, depth):
    return {
        row["seed"]: row["error"]
        for row in rows
        if row["task"] == "letters to phones" and (row["variant"], row["depth"]) == (variant, depth)
    }
