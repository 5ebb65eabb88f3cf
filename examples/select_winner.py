"""Pick a winner: the most central node of a graph, by how far one edge can move each node's own score."""

import sordino as sd

names = ["a", "b", "v0", "v1", "v2", "v3", "v4", "v5"]
centrality = [6.5, 6.5, 0, 0, 0, 0, 0, 0]

# How much one further edge can move the node's score, 0 and 1 edges away from this graph; past that, 7.5.
profile = sd.Profile.from_table(
    [[3, 5], [3, 5], [2, 3], [2, 3], [1, 2], [1, 2], [2, 3], [2, 3]],
    bound=7.5,
    distance=sd.flip_edge(),
)

release = sd.select(centrality, profile=profile, epsilon=2.0, mechanism="local_dampening")
print("most central:", names[release.value])
print("guarantee:   ", release.guarantee)

# The exact law is a function of its own. It depends on the scores, so it is as confidential as they are.
for mechanism in ("exponential", "local_dampening"):
    law = sd.selection_law(centrality, profile=profile, epsilon=2.0, mechanism=mechanism)
    print(f"{mechanism:<16} P(a) = {law[0]:.3f}, P(v0) = {law[2]:.3f}")
