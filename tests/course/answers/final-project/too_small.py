# points: 13
# base: solution
# why: a choice that fits because it uses hardly anything, and learns little

# %% choice
CHOICE = dict(cell="rnn", hidden_size=2, num_layers=1, storage="gates")
RIVAL = dict(cell="gru", hidden_size=33, num_layers=1, storage="recompute")
