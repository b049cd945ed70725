# points: 13
# base: solution
# why: three runs on one seed, and the two arms are paired by their order

# %% results
RESULTS = [run(CHOICE, 0) for _ in range(3)]

# %% rivals
RIVALS = [run(RIVAL, 0) for _ in range(3)]


# %% summary
def summary(results):
    by_seed = sorted(results, key=lambda result: result["seed"])
    return mean_interval([result["accuracy"] for result in by_seed])


def difference(results, rivals):
    pairs = zip(results, rivals)
    return mean_interval([one["accuracy"] - two["accuracy"] for one, two in pairs])
