#!/bin/sh
# Runs suites of kith_bench_device (every `must` without a name), PyTorch beside those that it can do, and adds everything
# to one file.
#   bench/device/run.sh [SUITE…] [-- ARGUMENT…]      arguments of the program, --quick for one
# From the environment:
#   KITH_BENCH_DEVICE   the program (default: build/release/bench/kith_bench_device)
#   KITH_BENCH_JSON     the file (default: device.json)
#   KITH_COMMIT         the commit to record (default: the one the program was built from)
#   PYTHON              the Python that has PyTorch (default: python3)
set -u
here=$(dirname "$0")
program=${KITH_BENCH_DEVICE:-$here/../../build/release/bench/kith_bench_device}
json=${KITH_BENCH_JSON:-device.json}
python=${PYTHON:-python3}
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
suites=
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  suites="$suites $1"
  shift
done
[ $# -eq 0 ] || shift
case " $* " in *" --quick "*) quick=--quick ;; *) quick= ;; esac
status=0

# One program a suite: if one breaks off, the device is as new for the others.
for suite in ${suites:-select/must search/must lowdim/must}; do
  "$program" --suite "$suite" --json "$json" --driver "$driver" ${KITH_COMMIT:+--commit "$KITH_COMMIT"} "$@" || status=$?
  case $status in 2 | 5) exit $status ;; esac
  case $suite in
    select/must | search/must) peers="$here/torch_peers.py --suite $suite" ;;
    search/engine) peers=$here/../python/torch_knn.py ;;
    *) continue ;;
  esac
  if $python -c 'import torch' 2>/dev/null; then
    $python $peers --json "$json" --driver "$driver" $quick || status=$?
  else
    echo "PyTorch left out: it is not here"
  fi
done
exit $status
