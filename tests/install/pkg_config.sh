#!/bin/sh
# pkg_config.sh PREFIX LIBDIR COMPILER VERSION SOURCE WORK C_COMPILER C_SOURCE: builds and runs the consumers with what pkg-config says.
set -eu
prefix=$1 libdir=$2 compiler=$3 version=$4 source=$5 work=$6 c_compiler=$7 c_source=$8

export PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig"
mkdir -p "$work"
cd "$work"

said=$(pkg-config --modversion kith)
[ "$said" = "$version" ] || { echo "pkg-config says version $said, the build $version"; exit 1; }

build() {
  $compiler -std=c++20 "$source/$1.cpp" $(pkg-config --cflags --libs "$2") -Wl,-rpath,"$prefix/$libdir" -o "$1"
}
build search kith
build files "kith-io kith"
./search
./files

$c_compiler -std=c11 -Wall -Wextra -Werror -pedantic "$c_source/search.c" $(pkg-config --cflags --libs kith) \
  -Wl,-rpath,"$prefix/$libdir" -o search_c
./search_c
