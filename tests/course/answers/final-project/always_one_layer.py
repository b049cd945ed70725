# points: 14
# base: solution
# why: the number of layers is never handed to the stack, so the rival is not the one that was chosen

# %% build
class Classifier(nn.Module):
    def __init__(self, choice):
        super().__init__()
        self.stack = CELLS[choice["cell"]](D, choice["hidden_size"], storage=choice["storage"])
        self.output = nn.Linear(choice["hidden_size"], 10)

    def forward(self, x):
        return self.output(self.stack(x)[0][-1])


def build(choice, seed):
    torch.manual_seed(seed)
    return Classifier(choice)
