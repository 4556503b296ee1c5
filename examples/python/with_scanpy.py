"""scanpy's neighbor graph and Leiden clusters of cells, over exact neighbors.

prints:
500 cells, connectivities like scanpy's own: True
4 clusters, one for each kind of cell: True
"""

import warnings

import anndata
import numpy as np
import scanpy
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from kith.sklearn import KNeighborsTransformer

warnings.filterwarnings("ignore")
expression, kind = make_blobs(n_samples=500, n_features=30, centers=4, random_state=0)
cells = anndata.AnnData(expression.astype(np.float32))

own = cells.copy()
scanpy.pp.neighbors(own, n_neighbors=15, use_rep="X")
scanpy.pp.neighbors(cells, n_neighbors=15, use_rep="X", transformer=KNeighborsTransformer(n_neighbors=15))
difference = abs(cells.obsp["connectivities"] - own.obsp["connectivities"]).max()
print(f"{cells.n_obs} cells, connectivities like scanpy's own: {bool(difference < 1e-4)}")

scanpy.tl.leiden(cells, flavor="igraph", n_iterations=2, directed=False, resolution=0.1, random_state=0)
found = cells.obs["leiden"].astype(int)
print(f"{found.nunique()} clusters, one for each kind of cell: {adjusted_rand_score(kind, found) == 1}")
