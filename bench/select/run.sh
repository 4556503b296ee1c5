#!/bin/sh
# Runs suites of kith_bench_select (all without a name), torch.topk beside `must`, and adds everything to one file.
#   bench/select/run.sh [SUITE…]
# From the environment:
#   KITH_BENCH_SELECT   the program (default: build/release/bench/select/kith_bench_select)
#   KITH_BENCH_JSON     the file (default: select.json)
#   KITH_COMMIT         the commit to record (default: the one the program was built from)
#   KITH_BENCH_ARGS     more arguments for the program
#   PYTHON              the Python that has PyTorch (default: python3)
set -u
here=$(dirname "$0")
program=${KITH_BENCH_SELECT:-$here/../../build/release/bench/select/kith_bench_select}
json=${KITH_BENCH_JSON:-select.json}
suites=${*:-must queues thesis multi-select}
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
status=0

for suite in $suites; do
  # One program a suite: if one breaks off, the others are still on file.
  "$program" --suite "$suite" --json "$json" --driver "$driver" ${KITH_COMMIT:+--commit "$KITH_COMMIT"} \
    ${KITH_BENCH_ARGS:-} || status=$?
  [ $status -eq 5 ] && exit 5
  [ "$suite" = must ] || continue
  if ${PYTHON:-python3} -c 'import torch' 2>/dev/null; then
    ${PYTHON:-python3} "$here/torch_topk.py" --json "$json" --driver "$driver" || status=$?
  else
    echo "torch.topk left out: no PyTorch here"
  fi
done
exit $status
