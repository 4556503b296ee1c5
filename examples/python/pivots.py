"""Words nearest to misspelled ones, and shapes of histograms, by distances that are no sums over coordinates.

prints:
recieve: relieve (1), receive (2)
acommodate: accommodate (1), commodore (3)
tomorow: tomorrow (1), borrow (3)
evaluated: 6 of 36 distances
nearest in shape: [[0, 2]]
"""

import numpy as np

import kith

words = "accommodate borrow commodore committee receive relieve reprieve sorrow tomorrow Tuesday weather whether".split()
misspelled = ["recieve", "acommodate", "tomorow"]
index = kith.PivotIndex(words, metric="levenshtein", pivots=3)
distances, indices = index.search(misspelled, k=2)
for word, row, found in zip(misspelled, distances, indices):
    print(f"{word}: " + ", ".join(f"{words[i]} ({int(d)})" for d, i in zip(row, found)))
print(f"evaluated: {index.report.evaluations} of {index.report.pairs} distances")

# Histograms of ten bins: those whose mass must be moved least.
bins = np.arange(10)
counts = [[0, 1, 5, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 5, 1, 0], [0, 0, 1, 5, 1, 0, 0, 0, 0, 0]]
shapes = kith.PivotIndex([(bins, count) for count in counts], metric="emd")
print(f"nearest in shape: {shapes.search([(bins, counts[0])], k=2).indices.tolist()}")
