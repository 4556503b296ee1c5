#!/bin/sh
# headers_alone.sh INCLUDE COMPILER C_COMPILER [MPI_INCLUDE...]: every installed header compiles alone, twice included, without a warning;
# kith.h as C and as C++.
set -eu
include=$1 compiler=$2 c_compiler=$3
shift 3
mpi=""
for folder in "$@"; do mpi="$mpi -isystem $folder"; done

failed=0 count=0
for header in "$include"/kith/*.hpp; do
  name=kith/$(basename "$header")
  count=$((count + 1))
  printf '#include <%s>\n#include <%s>\n' "$name" "$name" |
    $compiler -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only -I "$include" $mpi -x c++ - ||
    { echo "$name does not compile alone"; failed=1; }
done
printf '#include <kith.h>\n#include <kith.h>\n#include <kith/kith.hpp>\n' |
  $compiler -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only -I "$include" -x c++ - ||
  { echo "kith.h does not compile as C++"; failed=1; }
for standard in c99 c11 c17; do
  printf '#include <kith.h>\n#include <kith.h>\n' |
    $c_compiler -std=$standard -Wall -Wextra -pedantic -Wstrict-prototypes -Werror -fsyntax-only -I "$include" -x c - ||
    { echo "kith.h does not compile as $standard"; failed=1; }
done
[ "$count" -ge 12 ] || { echo "only $count headers are installed"; exit 1; }
exit $failed
