#!/bin/sh
# Runs every fuzz target for the given number of seconds, one per core at a time, from its seeds in fuzz/corpus/<target>
# and from what earlier runs found. Logs and findings are kept in build/fuzz/logs and build/fuzz/findings.
set -eu
cd "$(dirname "$0")/.."

if [ $# = 2 ]; then
  seconds=$1 name=$2
  found=build/fuzz/corpus/$name
  mkdir -p "$found"
  if build/fuzz/fuzz/"$name" -max_total_time="$seconds" -timeout=25 -print_final_stats=1 \
      -artifact_prefix=build/fuzz/findings/"$name"- "$found" fuzz/corpus/"$name" >build/fuzz/logs/"$name".log 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' build/fuzz/logs/"$name".log)
    echo "$name: nothing found in $seconds s, $runs runs"
  else
    echo "$name: FINDING"
    tail -n 40 build/fuzz/logs/"$name".log
    exit 1
  fi
  exit 0
fi

cmake --preset fuzz -DCMAKE_UNITY_BUILD=ON >/dev/null
cmake --build --preset fuzz -j "$(nproc)" --target fuzz
mkdir -p build/fuzz/findings build/fuzz/logs
for source in fuzz/fuzz_*.cpp; do basename "$source" .cpp; done | xargs -P "$(nproc)" -n 1 "$0" "$1"
