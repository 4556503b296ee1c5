#!/bin/sh
# Builds the HDF5 and libzip that wheels carry, from the sources of Debian's packages, into build/wheel-libraries: static,
# position-independent, and with deflate alone. Debian's own binaries would bring OpenSSL, curl and Kerberos along (HDF5
# reads from S3, libzip decrypts), and its libhdf5.a cannot be put into a shared library. Does nothing when they are there.
set -eu
cd "$(dirname "$0")/.."

prefix=$PWD/build/wheel-libraries
[ ! -e "$prefix/complete" ] || exit 0
work=$prefix/sources
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
cd "$work"

# Lists of its own, so that the system's need not name sources and nothing asks for root.
cat >sources.list <<END
deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main
deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian-security bookworm-security main
END
apt() {
  apt-get -qq -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}
apt update
rm -rf hdf5 libzip
for name in hdf5 libzip; do
  apt source --download-only $name
  dpkg-source --no-check -x ${name}_*.dsc $name >/dev/null
done

# HDF5's configuration wants to run in its build folder.
install_library() {
  name=$1
  shift
  mkdir "$name/build"
  (
    cd "$name/build"
    cmake .. -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF \
      -DCMAKE_C_FLAGS="-ffunction-sections -fdata-sections -w" -DCMAKE_INSTALL_PREFIX="$prefix" \
      -DCMAKE_INSTALL_LIBDIR=lib "$@" && cmake --build . --target install
  ) >"$name.log" 2>&1 || { tail -n 40 "$name.log" >&2; exit 1; }
}
command -v ccache >/dev/null && export CMAKE_C_COMPILER_LAUNCHER=ccache
install_library hdf5 -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF -DHDF5_BUILD_HL_LIB=OFF \
  -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DBUILD_TESTING=OFF
# glibc has had arc4random since 2.36 alone, and the wheels' tag would say so.
install_library libzip -DHAVE_ARC4RANDOM=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DENABLE_OPENSSL=OFF \
  -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF

# Under Debian's names, and with what a static library needs.
mkdir -p "$prefix/pkgconfig"
# describe PACKAGE SOURCE LIBRARY
describe() {
  version=$(dpkg-parsechangelog -l "$2/debian/changelog" -S Version | sed 's/[+-].*//')
  cat >"$prefix/pkgconfig/$1.pc" <<END
Name: $1
Description: $2 for wheels
Version: $version
Cflags: -I$prefix/include
Libs: -L$prefix/lib -l$3 -lz -ldl -lm
END
}
describe hdf5-serial hdf5 hdf5
describe libzip libzip zip
mkdir -p "$prefix/licenses"
cp hdf5/COPYING "$prefix/licenses/HDF5.txt"
cp libzip/LICENSE "$prefix/licenses/libzip.txt"
touch "$prefix/complete"
