# points: 13
# base: solution
# why: the stack takes pictures for steps, so a picture's scores depend on the others

# %% build
class Classifier(nn.Module):
    def __init__(self, cell, hidden_size, num_layers, storage):
        super().__init__()
        options = {"storage": storage, "batch_first": True}
        self.stack = CELLS[cell](D, hidden_size, num_layers, **options)
        self.output = nn.Linear(hidden_size, 10)

    def forward(self, x):
        return self.output(self.stack(x)[0][-1])


def build(choice, seed):
    torch.manual_seed(seed)
    return Classifier(**choice)
