#!/bin/sh
# headers_alone.sh INCLUDE COMPILER: every installed header compiles alone, twice included, without a warning.
set -eu
include=$1 compiler=$2

failed=0 count=0
for header in "$include"/kith/*.hpp; do
  name=kith/$(basename "$header")
  count=$((count + 1))
  printf '#include <%s>\n#include <%s>\n' "$name" "$name" |
    $compiler -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only -I "$include" -x c++ - ||
    { echo "$name does not compile alone"; failed=1; }
done
[ "$count" -ge 12 ] || { echo "only $count headers are installed"; exit 1; }
exit $failed
