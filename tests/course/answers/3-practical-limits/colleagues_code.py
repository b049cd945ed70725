# points: 4.5
# base: solution
# why: the three functions are handed in as they were

# %% hand-on
hand_on = colleagues_hand_on

# %% normalise
normalise = colleagues_normalise

# %% gru-step
gru_step = colleagues_gru_step
