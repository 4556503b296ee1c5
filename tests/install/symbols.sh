#!/bin/sh
# symbols.sh LIBRARY...: each library exports functions of namespace kith, the C functions of kith.h, which
# tests/c_api/symbols.sh looks at one by one, and nothing else.
set -eu

for library in "$@"; do
  symbols=$(nm -D --defined-only "$library" | awk '$2 != "A" {print $NF}')
  foreign=$(printf '%s\n' "$symbols" | grep -Ev '^(_Z(N|NK|TIN|TSN|TVN)4kith|kith_[a-z0-9_]+@@KITH_C_[0-9]+$)' || true)
  [ -z "$foreign" ] || { echo "$library also exports:"; printf '%s\n' "$foreign" | c++filt; exit 1; }
  inner=$(printf '%s\n' "$symbols" | sed 's/@.*//' | c++filt | grep -E '(^|[ *&])kith::(api|c|core|cpu|custom|emulated|graph|plan)::' || true)
  [ -z "$inner" ] || { echo "$library exports internals:"; printf '%s\n' "$inner"; exit 1; }
  printf '%s\n' "$symbols" | grep -q '^_ZN4kith' || { echo "$library exports nothing"; exit 1; }
done
