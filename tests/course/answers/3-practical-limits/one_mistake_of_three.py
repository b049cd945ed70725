# points: 6.5
# base: solution
# why: the axis alone is repaired, and the GRU's second bias stays outside of the reset

# %% normalise
def normalise(h, gain, shift, eps=1e-5):
    mean, deviation = h.mean(-1, keepdim=True), h.std(-1, keepdim=True)
    return gain * (h - mean) / (deviation + eps) + shift


# %% gru-step
def gru_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    a_r, a_z, a_n = (x @ weight_ih.T + bias_ih + bias_hh).chunk(3, -1)
    s_r, s_z, s_n = (h @ weight_hh.T).chunk(3, -1)
    r, z = torch.sigmoid(a_r + s_r), torch.sigmoid(a_z + s_z)
    n = torch.tanh(a_n + r * s_n)
    return (1 - z) * n + z * h
