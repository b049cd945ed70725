# points: 6.5
# base: solution
# why: the output layer is left out of the equation

# %% real-width
def real_width(m, d, K):
    a, b, c = 12, 4 * m + 16, -4 * d * (m + d + 2)
    return (-b + math.sqrt(b * b - 4 * a * c)) / (2 * a)


# %% nearest-width
def nearest_width(m, d, K):
    def miss(width):
        return abs(4 * width * (m + 3 * width + 4) - 4 * d * (m + d + 2))

    below = int(real_width(m, d, K))
    return below if miss(below) <= miss(below + 1) else below + 1
