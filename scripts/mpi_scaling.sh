#!/bin/sh
# mpi_scaling.sh [BUILD]: how much faster two ranks with a thread each are than one, in pairs of runs one after the other;
# what counts is the seconds of the search, as --stats has them. Answers must be equal.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$build/cli/kith" gen --kind uniform --rows 400000 --dims 128 --seed 1 -o "$folder/base.fbin"
"$build/cli/kith" gen --kind uniform --rows 4000 --dims 128 --seed 2 -o "$folder/queries.fbin"

seconds() {
  tests/mpi/mpirun.sh mpirun "$1" "$build/cli/kith-mpi" search --base "$folder/base.fbin" --queries "$folder/queries.fbin" \
    -k 10 --method brute --threads 1 --layout stationary --stats -o "$folder/$1.npz" 2>&1 | awk '$1 == "0" { print $2 }'
}

for pair in 1 2 3 4 5; do
  one=$(seconds 1)
  two=$(seconds 2)
  cmp "$folder/1.npz" "$folder/2.npz"
  awk -v one="$one" -v two="$two" 'BEGIN { printf "1 rank %.3f s, 2 ranks %.3f s: %.2f times\n", one, two, one / two }'
done
