# points: 15
# base: release
# why: everything right with other choices: counts are measured, an LSTM meets a plain RNN

# %% cost
def cost(cell, hidden_size, num_layers, scheme):
    stack = CELLS[cell](D, hidden_size, num_layers, storage=scheme)
    x = torch.zeros(T, N, D)
    return measure.saved_bytes(stack, x), measure.macs(stack, x, training=True)


def fits(cell, hidden_size, num_layers, scheme):
    kept, macs = cost(cell, hidden_size, num_layers, scheme)
    return not (kept > BYTES or macs > MACS)


def widest(cell, num_layers, scheme):
    fitting, too_wide = 0, 128
    while too_wide - fitting > 1:
        middle = (fitting + too_wide) // 2
        if fits(cell, middle, num_layers, scheme):
            fitting = middle
        else:
            too_wide = middle
    return fitting


# %% choice
CHOICE = {"cell": "lstm", "hidden_size": 14, "num_layers": 1, "storage": "gates"}
RIVAL = {"cell": "rnn", "hidden_size": 38, "num_layers": 2, "storage": "gates"}


# %% build
class LastOutput(nn.Module):
    def __init__(self, stack):
        super().__init__()
        self.stack = stack
        self.scores = nn.Linear(stack.hidden_size, 10)

    def forward(self, x):
        _, state = self.stack(x)
        h = state[0] if isinstance(state, tuple) else state
        return self.scores(h[-1])


def build(choice, seed):
    with torch.random.fork_rng():
        torch.manual_seed(1000 + seed)
        options = {"storage": choice["storage"], "num_layers": choice["num_layers"]}
        return LastOutput(CELLS[choice["cell"]](D, choice["hidden_size"], **options))


# %% audit
AUDIT = audit(build(CHOICE, 7).stack, torch.randn(T, N, D))


# %% run
def run(choice, seed):
    model = build(choice, seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    for (x, y), _ in zip(batches(seed), range(STEPS)):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    with torch.no_grad():
        named = model(sequences(DIGITS.valid.x)).argmax(1)
    return dict(seed=seed, accuracy=(named == DIGITS.valid.y).double().mean().item())


# %% results
SEEDS = (11, 5, 8, 2)
RESULTS = [run(CHOICE, seed) for seed in SEEDS]

# %% rivals
RIVALS = [run(RIVAL, seed) for seed in reversed(SEEDS)]


# %% summary
def summary(results):
    ordered = sorted((r["seed"], r["accuracy"]) for r in results)
    return mean_interval([value for _, value in ordered])


def difference(results, rivals):
    ours = {r["seed"]: r["accuracy"] for r in results}
    theirs = {r["seed"]: r["accuracy"] for r in rivals}
    return mean_interval([ours[seed] - theirs[seed] for seed in sorted(ours)])
