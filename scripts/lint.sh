#!/bin/sh
# Formatting of all sources, the directions of their includes, and clang-tidy over the library, the emulator and the command
# line tool. clang-tidy reads a build of its own that clang understands, that compiles each SIMD function once instead of
# once per instruction set, and that has the sources of a target together, because reading the headers takes longest.
set -eu
cd "$(dirname "$0")/.."

# clang-format 14 takes offense at the end of an inline namespace and would change nothing: the files are asked again.
suspects=$(scripts/sources.sh | xargs clang-format-14 --dry-run -Werror 2>&1 | sed -n 's/:[0-9:]* error:.*//p' | sort -u)
unformatted=$(for file in $suspects; do clang-format-14 "$file" | cmp -s - "$file" || echo "$file"; done)
if [ -n "$unformatted" ]; then
  echo "not formatted ('make format' does it):" $unformatted
  exit 1
fi

scripts/include_graph.py --quiet

cmake --preset lint -DCMAKE_UNITY_BUILD=ON >/dev/null
run-clang-tidy-14 -quiet -p build/lint -j "$(nproc)" >build/lint/tidy.log 2>&1 || {
  sed 's/\x1b\[[0-9;]*m//g' build/lint/tidy.log | grep -E '(warning|error): .*\[' | sort -u
  exit 1
}
