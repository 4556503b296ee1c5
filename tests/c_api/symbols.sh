#!/bin/sh
# symbols.sh LIBRARY HEADER LIST: the library exports the C functions that the header declares, each in the version node
# that the list has for it, and no others.
set -eu
library=$1 header=$2 list=$3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -v '^#' "$header" | tr '\n' ' ' | grep -oE 'KITH_C_(API|CHECKED) [^;(#]*[(]' | sed -E 's/.*[ *]([a-z0-9_]+)[(]/\1/' | sort >"$work/declared"
nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" && $3 !~ /^_Z/ {print $3}' | sort |
  sed 's/@@*/ /' >"$work/exported"
grep -v '^#' "$list" | sort >"$work/listed"
cut -d ' ' -f 1 "$work/listed" >"$work/listed_names"

[ "$(wc -l <"$work/declared")" -ge 30 ] || { echo "only $(wc -l <"$work/declared") functions are declared"; exit 1; }
failed=0
diff "$work/listed_names" "$work/declared" || { echo "$header (>) and $list (<) differ"; failed=1; }
diff "$work/listed" "$work/exported" || { echo "$library (>) and $list (<) differ"; failed=1; }
exit $failed
