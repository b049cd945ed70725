# points: 7.0
# base: solution
# why: layers are counted from zero, and only the weights are silenced

# %% run
def run(layers, x, k):
    for number, lstm in enumerate(layers):
        h, _ = lstm(x)
        x = x + h if number >= k and x.shape == h.shape else h
    return x


def silence(layers, k):
    for lstm in layers[k:]:
        for name, parameter in lstm.named_parameters():
            if name.startswith("weight"):
                nn.init.zeros_(parameter)
