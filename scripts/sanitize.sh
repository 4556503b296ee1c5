#!/bin/sh
# Runs the device tests under every tool of compute-sanitizer, on small problems, several processes at once.
#   scripts/sanitize.sh [TEST_PROGRAM]
# From the environment:
#   KITH_SANITIZE_TOOLS    default: memcheck racecheck synccheck initcheck
#   KITH_SANITIZE_SHARDS   processes a tool (default: 4)
#   KITH_SANITIZE_LIMIT    seconds a process may take (default: 1800)
#   KITH_SANITIZE_FILTER   which tests (default: all but those that make errors on purpose)
#   KITH_SANITIZE_LOGS     folder of the logs (default: build/sanitize)
#   KITH_SANITIZE_UNSEEN   tests that initcheck leaves out: it does not see what cuBLASLt's kernels write, and says of
#                          scores that are there, and right, that nobody wrote them
# racecheck looks at the project's own kernels: following every access of CUB's sorts takes it minutes each.
set -u
program=${1:-build/cuda/tests/test_cuda}
tools=${KITH_SANITIZE_TOOLS:-memcheck racecheck synccheck initcheck}
shards=${KITH_SANITIZE_SHARDS:-4}
limit=${KITH_SANITIZE_LIMIT:-1800}
filter=${KITH_SANITIZE_FILTER:--*SaysHowMuchMemory*:*NamesTheKernelThatCannotStart*:*TurnsCodes*}
unseen=${KITH_SANITIZE_UNSEEN:-*TilesOfOddSizes*}
logs=${KITH_SANITIZE_LOGS:-build/sanitize}
export KITH_TEST_SMALL=1 GTEST_TOTAL_SHARDS="$shards"
mkdir -p "$logs"

for tool in $tools; do
  shard=0
  tests=$filter
  kernels=
  [ "$tool" = racecheck ] && kernels="--kernel-regex-exclude kns=cub"
  if [ "$tool" = initcheck ]; then
    case $filter in
      *-*) tests=$filter:$unseen ;;
      *) tests=$filter-$unseen ;;
    esac
  fi
  while [ "$shard" -lt "$shards" ]; do
    {
      GTEST_SHARD_INDEX=$shard timeout "$limit" compute-sanitizer --tool "$tool" $kernels --error-exitcode 9 \
        "$program" "--gtest_filter=$tests" > "$logs/$tool-$shard.log" 2>&1
      echo $? > "$logs/$tool-$shard.rc"
    } &
    shard=$((shard + 1))
  done
done
wait

status=0
for tool in $tools; do
  shard=0
  while [ "$shard" -lt "$shards" ]; do
    rc=$(cat "$logs/$tool-$shard.rc")
    [ "$rc" -eq 0 ] || status=1
    echo "$tool, part $((shard + 1)) of $shards: exit code $rc; $(grep -E 'SUMMARY' "$logs/$tool-$shard.log" | tail -n 1)" \
      "$(grep -E '^\[  PASSED|^\[  FAILED' "$logs/$tool-$shard.log" | head -n 1)"
    shard=$((shard + 1))
  done
done
exit $status
