#!/bin/sh
# Makes sure that the Debian packages the named sets need are there: installs what is missing when it may, else prints
# the line that would and fails. Sets: build mpi test fuzz lint bench python spark wheel arm.
set -eu

packages=""
for set in "$@"; do
  case $set in
    build) packages="$packages cmake ninja-build g++ pkg-config libopenblas-openmp-dev libhwy-dev libfmt-dev libhdf5-dev
             libzip-dev zlib1g-dev libfast-float-dev libcli11-dev nlohmann-json3-dev" ;;
    # Either is enough to build with; tests are of both.
    mpi)   packages="$packages libopenmpi-dev openmpi-bin libmpich-dev mpich" ;;
    test)  packages="$packages libgtest-dev librapidcheck-dev libboost-context-dev python3 python3-numpy ccache
             clang-14 libclang-rt-14-dev libomp-14-dev clang-tidy-14 clang-format-14" ;;
    fuzz)  packages="$packages clang-14 libclang-rt-14-dev libomp-14-dev" ;;
    lint)  packages="$packages libboost-context-dev clang-14 libomp-14-dev clang-tidy-14 clang-format-14" ;;
    bench) packages="$packages libfaiss-dev libnanoflann-dev" ;;
    python) packages="$packages python3-dev python3-venv" ;;
    # Any Java that Spark runs on.
    spark) command -v java >/dev/null || packages="$packages default-jre-headless" ;;
    wheel) packages="$packages dpkg-dev zlib1g-dev" ;;
    # The libraries to link with are unpacked by arm_sysroot.sh. ARM itself needs neither.
    arm)   [ "$(uname -m)" = aarch64 ] || packages="$packages g++-aarch64-linux-gnu qemu-user-static" ;;
    *)     echo "setup.sh: unknown set '$set'" >&2; exit 2 ;;
  esac
done

if ! command -v dpkg-query >/dev/null; then
  echo "setup.sh: not a Debian system; needed here, under the names your system gives them:" $packages >&2
  exit 0
fi

installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $packages 2>/dev/null || true)
missing=""
for package in $packages; do
  case "$installed" in
    *"installed $package
"* | *"installed $package") ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=env
elif sudo -n true 2>/dev/null; then
  as_root="sudo -n env"
else
  echo "Some packages are missing and installing them needs root. Run this, then try again:" >&2
  echo "  sudo apt-get install --no-install-recommends$missing" >&2
  exit 1
fi
echo "Installing:$missing" >&2
$as_root apt-get update -qq >/dev/null
$as_root DEBIAN_FRONTEND=noninteractive apt-get install -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends $missing >/dev/null
