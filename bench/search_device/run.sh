#!/bin/sh
# Runs kith_bench_search, then torch_search.py on the same shapes, and adds both to one file.
#   bench/search_device/run.sh [ARGUMENT…]      arguments of kith_bench_search, --stages all for one
# From the environment:
#   KITH_BENCH_SEARCH   the program (default: build/release/bench/search_device/kith_bench_search)
#   KITH_BENCH_JSON     the file (default: search.json)
#   KITH_COMMIT         the commit to record (default: the one the program was built from)
#   PYTHON              the Python that has PyTorch (default: python3)
set -u
here=$(dirname "$0")
program=${KITH_BENCH_SEARCH:-$here/../../build/release/bench/search_device/kith_bench_search}
json=${KITH_BENCH_JSON:-search.json}
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
status=0

"$program" --json "$json" --driver "$driver" ${KITH_COMMIT:+--commit "$KITH_COMMIT"} "$@" || status=$?
[ $status -eq 5 ] && exit 5
[ $status -eq 2 ] && exit 2
quick=
for argument in "$@"; do
  case $argument in
    --quick) quick=--quick ;;
    --suite | --suite=*) exit $status ;; # PyTorch is beside the default suite only
  esac
done
if ${PYTHON:-python3} -c 'import torch' 2>/dev/null; then
  ${PYTHON:-python3} "$here/torch_search.py" --json "$json" --driver "$driver" $quick || status=$?
else
  echo "torch left out: no PyTorch here"
fi
exit $status
