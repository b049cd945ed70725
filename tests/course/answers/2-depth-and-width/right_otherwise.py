# points: 8.0
# base: release
# why: everything right: a search for the nearest width, plain Python for the bootstrap

# %% real-width
def real_width(m, d, K):
    half = (4 * m + 16 + K) / 24
    target = (4 * d * (m + d) + 8 * d + K * d) / 12
    return (half**2 + target) ** 0.5 - half


# %% nearest-width
def nearest_width(m, d, K):
    target = 4 * d * (m + d) + 8 * d + K * d
    best, best_miss = None, None
    for x in range(1, d + 1):
        miss = abs(4 * x * (m + x) + 8 * x + 4 * x * 2 * x + 8 * x + K * x - target)
        if best is None or miss < best_miss:
            best, best_miss = x, miss
    return best


# %% kept-bytes
def kept_bytes(m, d, L, T, N):
    floats = 0
    for layer in range(L):
        floats += 6 * T * N * d + 2 * N * d
    return (floats + T * N * m) * 4


# %% kept-at-equal-parameters
def kept_at_equal_parameters(m, d, T, N):
    x = torch.randn(T, N, m)
    stacks = (
        rnnlib.LSTM(m, d, storage="gates"),
        rnnlib.LSTM(m, nearest_width(m, d, 0), num_layers=2, storage="gates"),
    )
    return [measure.saved_bytes(stack, x) for stack in stacks]


# %% paired-interval
import random


def paired_interval(one, two, level=0.95, resamples=10_000, seed=0):
    if set(one) != set(two):
        raise ValueError(f"two={sorted(two)}: expected the seeds {sorted(one)}")
    if len(one) < 2:
        raise ValueError(f"one={one}: expected at least two seeds")
    change = [two[key] - one[key] for key in sorted(one)]
    draw = random.Random(seed)
    means = sorted(sum(draw.choices(change, k=len(change))) / len(change) for _ in range(resamples))
    cut = (1 - level) / 2
    lower = means[int(cut * resamples)]
    upper = means[min(resamples - 1, int((1 - cut) * resamples))]
    return sum(change) / len(change), lower, upper


# %% arm
def arm(rows, variant, depth):
    chosen = {}
    for row in rows:
        if row["task"] != "letters to phones" or row["examples"] is not None:
            continue
        if row["variant"] == variant and row["depth"] == depth:
            chosen[row["seed"]] = row["error"]
    return chosen
