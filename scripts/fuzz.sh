#!/bin/sh
# Runs every fuzz target for the given number of seconds, from its seeds in fuzz/corpus/<target> and from what earlier
# runs found. Findings are kept in build/fuzz/findings.
set -eu
cd "$(dirname "$0")/.."
seconds=$1

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$(nproc)" --target fuzz

mkdir -p build/fuzz/findings
failed=""
for source in fuzz/fuzz_*.cpp; do
  name=$(basename "$source" .cpp)
  found=build/fuzz/corpus/$name
  mkdir -p "$found"
  if build/fuzz/fuzz/"$name" -max_total_time="$seconds" -timeout=10 -print_final_stats=0 -verbosity=0 \
      -artifact_prefix=build/fuzz/findings/"$name"- "$found" fuzz/corpus/"$name"; then
    echo "$name: nothing found in $seconds s"
  else
    failed="$failed $name"
  fi
done
[ -z "$failed" ] || { echo "findings in:$failed; see build/fuzz/findings" >&2; exit 1; }
