#!/bin/sh
# run_example.sh LANGUAGE EXAMPLES LIBRARY INCLUDE WORK: compiles and runs first_search of another language with the library
# of this build. Says "not here" where the language is not.
set -eu
language=$1 examples=$2 library=$3 include=$4 work=$5
folder=$(dirname "$library")

mkdir -p "$work"
cd "$work"
export LD_LIBRARY_PATH="$folder"
need() {
  command -v "$1" >/dev/null || { echo "$1 is not here"; exit 0; }
}

case $language in
  rust)
    need rustc
    rustc -O -L "native=$folder" "$examples/first_search.rs" -o first_search
    ./first_search
    ;;
  julia)
    need julia
    julia "$examples/first_search.jl"
    ;;
  r)
    need R
    cp "$examples/kith_r.c" .
    PKG_CFLAGS="-I$include" PKG_LIBS="-L$folder -lkith" R CMD SHLIB kith_r.c >shlib.log 2>&1 || { cat shlib.log; exit 1; }
    Rscript --vanilla "$examples/first_search.R"
    ;;
esac
