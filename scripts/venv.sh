#!/bin/sh
# Makes build/venv, the virtual environment in which the Python package is built and tested, or completes it. Sets: test
# bench. $PYTHON is the interpreter (Debian's own unless it is given; the versions are those for it). PyPI must be in reach
# the first time.
set -eu
cd "$(dirname "$0")/.."

packages="nanobind==3.1.0 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 hypothesis==6.170.15 pytest==9.2.0 tqdm==4.70.1"
for set in "$@"; do
  case $set in
    # Type checkers; what points come from; engines and what they read; what examples/python runs with.
    test)  packages="$packages basedpyright==1.40.2 mypy==2.4.1 typing_extensions==4.16.0
             h5py==3.16.0 ml_dtypes==0.6.0 pandas==2.3.3 pyarrow==26.0.1
             dask==2026.8.0 distributed==2026.8.0 pyspark==4.3.0 ray==2.60.0 zarr==3.1.6
             igraph==1.0.0 imbalanced-learn==0.14.2 openTSNE==1.0.4 scanpy==1.11.5 umap-learn==0.5.12" ;;
    bench) packages="$packages faiss-cpu" ;;
    *)     echo "venv.sh: unknown set '$set'" >&2; exit 2 ;;
  esac
done

venv=build/venv
[ -x $venv/bin/python ] || "${PYTHON:-/usr/bin/python3}" -m venv $venv
[ "$(cat $venv/packages 2>/dev/null)" != "$packages" ] || exit 0
$venv/bin/python -m pip install -q --disable-pip-version-check $packages || {
  echo "venv.sh: pip could not install: $packages" >&2
  exit 1
}
echo "$packages" >$venv/packages
