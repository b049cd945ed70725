# points: 7.0
# base: solution
# why: zeroes all of the second vector, other gates included; takes any module; reads the first layer alone

# %% forget-bias
def forget_bias(lstm):
    H = lstm.hidden_size
    return [(lstm.bias_ih_l0 + lstm.bias_hh_l0)[H : 2 * H].detach()]


def set_forget_bias(lstm, value=1.0):
    H = lstm.hidden_size
    for name, p in lstm.named_parameters():
        if "bias_ih" in name:
            p.data[H : 2 * H] = value
        if "bias_hh" in name:
            p.data.zero_()
    return lstm
