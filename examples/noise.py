"""Add noise to a number: the triangles of a graph, by what one further edge can do to this graph."""

import numpy as np

import sordino as sd

nodes, triangles, most_common_neighbours = 77, 467, 16

# One edge changes as many triangles as its ends have common neighbours; each further edge adds one to that.
steps = np.minimum(most_common_neighbours + np.arange(nodes), nodes - 2)
profile = sd.Profile.from_table(steps, bound=nodes - 2, distance=sd.flip_edge())

release = sd.add_noise(triangles, profile, epsilon=1.0, noise="student_t", step=1)
print("triangles:", release.value)
print("guarantee:", release.guarantee)

# The worst case over all graphs needs more noise. Radii depend on the graph: confidential, like the profile.
beta = 1 / 8  # what Student-t noise chooses at ε = 1
smooth = sd.noise_radius(profile.smooth(beta), epsilon=1.0, noise="student_t", beta=beta)
worst = sd.noise_radius(profile.bound, epsilon=1.0, noise="laplace")
print(f"95 % of the noise: within {smooth:.0f} (smooth), within {worst:.0f} (worst case)")

# Which noise is smallest is decided by public parameters alone.
print("smallest noise at δ = 1e-6:", sd.advise(1.0, 1e-6)[0].noise)
