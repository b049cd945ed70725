# points: 8.0
# base: solution
# why: the normalisation takes its statistics over the batch

# %% normalise
def normalise(h, gain, shift, eps=1e-5):
    mean = h.mean(1, keepdim=True)
    variance = h.var(1, correction=0, keepdim=True)
    return gain * (h - mean) / (variance + eps).sqrt() + shift
