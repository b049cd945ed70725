# points: 14
# base: solution
# why: every seed starts from the same weights

# %% build
class Classifier(nn.Module):
    def __init__(self, cell, hidden_size, num_layers, storage):
        super().__init__()
        self.stack = CELLS[cell](D, hidden_size, num_layers, storage=storage)
        self.output = nn.Linear(hidden_size, 10)

    def forward(self, x):
        return self.output(self.stack(x)[0][-1])


def build(choice, seed):
    torch.manual_seed(0)
    return Classifier(**choice)
