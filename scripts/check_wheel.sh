#!/bin/sh
# Installs the wheel of dist/ that suits an interpreter into a fresh virtual environment, where no compiler is in PATH, and
# checks it: what its files need from outside, the tests that a search must pass, and the command.
#
# usage: scripts/check_wheel.sh PYTHON [DISTRIBUTION]
# DISTRIBUTION is kith_knn (the default) or kith_knn_cuda.
set -eu
cd "$(dirname "$0")/.."

name=${2:-kith_knn}
venv=$PWD/build/wheel-check/$name-$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
rm -rf "$venv"
"$1" -m venv "$venv"
"$venv/bin/pip" install -q --only-binary :all: pytest hypothesis numpy
"$venv/bin/pip" install -q --no-index --no-deps --find-links dist "$name"
# Nothing of the build tree: its own PATH, and a folder in which no kith lies.
alone() {
  (cd "$venv" && env -i PATH="$venv/bin" "$@")
}

site=$(alone python -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
files=$(find "$site/kith" "$site/$name.libs" -name '*.so*' -o -path '*/bin/kith')
for file in $files; do
  outside=$(ldd "$file" | grep -vE "=> $site/|linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s|z)\.so" || true)
  if [ -n "$outside" ]; then
    printf 'check_wheel.sh: %s needs more than the wheel brings:\n%s\n' "$file" "$outside" >&2
    exit 1
  fi
done

case $name in
  *_cuda) alone python -c 'from kith import _kith; assert _kith.has_cuda' ;;
esac
tests=$PWD/python/tests
alone python -m pytest -q -p no:cacheprovider --rootdir="$tests" "$tests/test_files.py" "$tests/test_search.py" \
  "$tests/test_index.py" "$tests/test_radius.py"
# Where there is no SciPy, too.
alone python -m pytest -q -p no:cacheprovider --doctest-modules --pyargs kith.spatial
alone kith --version
alone kith demo >"$venv/demo.log" || { cat "$venv/demo.log"; exit 1; }
echo "$(alone python -c 'import sys; print(sys.version.split()[0])'): $name is whole"
