# points: 13
# base: solution
# why: one standard deviation in place of the interval, and the difference of two summaries

# %% summary
def summary(results):
    values = torch.tensor([result["accuracy"] for result in results])
    mean, deviation = values.mean().item(), values.std().item()
    return mean, mean - deviation, mean + deviation


def difference(results, rivals):
    return tuple(one - two for one, two in zip(summary(results), summary(rivals)))
