# points: 7.5
# base: solution
# why: rounds the real width, which is not always the nearest count

# %% nearest-width
def nearest_width(m, d, K):
    return round(real_width(m, d, K))
