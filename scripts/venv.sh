#!/bin/sh
# Makes build/venv, the virtual environment in which the Python package is built and tested, or completes it. Sets: test
# bench. $PYTHON is the interpreter (Debian's own unless it is given). PyPI must be in reach the first time.
set -eu
cd "$(dirname "$0")/.."

packages="nanobind numpy scipy scikit-learn hypothesis pytest tqdm"
for set in "$@"; do
  case $set in
    test)  ;;
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
