#!/bin/sh
# Unpacks what Kith is built and tested with for aarch64 into build/arm-sysroot: Debian's arm64 packages and all that they
# depend on, of the release that runs here. They are not installed: libhdf5-dev of a second architecture would take the
# place of the first one's. Needs no root. Does nothing when they are there.
set -eu
cd "$(dirname "$0")/.."

packages="libc6-dev libstdc++-12-dev libopenblas-openmp-dev libhwy-dev libfmt-dev libhdf5-dev libzip-dev zlib1g-dev
          libfast-float-dev libcli11-dev nlohmann-json3-dev libgtest-dev librapidcheck-dev"
sysroot=$PWD/build/arm-sysroot
[ "$(cat "$sysroot/packages" 2>/dev/null)" != "$packages" ] || exit 0

work=$PWD/build/arm-packages
rm -rf "$sysroot" "$work"
mkdir -p "$sysroot" "$work/lists/partial" "$work/cache/archives/partial"
touch "$work/status"
# Lists of its own, and a system on which nothing is installed yet.
apt() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$work" -o Dir::State::status="$work/status" \
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o Debug::NoLocking=true \
    -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false -o APT::Get::Assume-Yes=true "$@"
}
apt update
apt install --download-only $packages >/dev/null
for archive in "$work"/cache/archives/*.deb; do
  dpkg-deb -x "$archive" "$sysroot"
done
# Links to /lib/... would lead out of the folder.
find "$sysroot" -type l -lname '/*' | while read -r link; do
  ln -snfr "$sysroot$(readlink "$link")" "$link"
done
rm -rf "$work"
echo "$packages" >"$sysroot/packages"
