#!/bin/sh
# Runs the named stages (without a name all but chips and arm) and prints a line with the wall time of each. A stage's output
# goes to build/logs/<stage>.log and is shown when the stage fails; the stages after it run all the same. Stage asan runs
# beside the others, for each of them has stretches that keep one core busy; LANES=1 runs one stage at a time.
set -u
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
# Sources of a target together: everything is compiled here, so headers need not be read again for each.
together=-DCMAKE_UNITY_BUILD=ON
# Kernels are compiled wherever they can be, and well where they can be run.
cuda="-DKITH_CUDA=OFF"
if command -v nvcc >/dev/null; then
  cuda="-DKITH_CUDA=ON -DKITH_CUDA_QUICK=ON"
  [ ! -e /dev/nvidiactl ] || cuda="-DKITH_CUDA=ON -DKITH_CUDA_QUICK=OFF"
fi

release() {
  # Device sources run under the emulator with the sanitizers, below.
  cmake --preset test $cuda -DKITH_BUILD_PYTHON=OFF && cmake --build --preset test -j "$jobs" &&
    GTEST_FILTER='-*emulated*' ctest --preset test -j "$jobs"
}

python() {
  # The same tree: only the extension is compiled.
  scripts/venv.sh test &&
    cmake --preset test -DKITH_BUILD_PYTHON=ON -DPython_EXECUTABLE="$PWD/build/venv/bin/python" &&
    cmake --build --preset test -j "$jobs" --target kith_python kith_python_modules kith_python_stub &&
    ctest --preset test -j "$jobs" -R '^python'
}

asan() {
  cmake --preset asan "$together" && cmake --build --preset asan -j "$jobs" && ctest --preset asan -j "$jobs" &&
    part_on_another_chip
}

# What the emulator can be beside an sm_90.
other_chips="sm_80 sm_86 sm_120 least"

# A part of the kernels' tests on a chip with 99 KiB of shared memory, every day another one; stage chips has them all.
part_on_another_chip() {
  set -- sm_86 sm_120
  day=$(($(date -u +%s) / 86400))
  parts=32
  part=$((day / $# % parts))
  shift $((day % $#))
  echo "chip: KITH_EMULATOR_CHIP=$1 GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$part build/asan/tests/test_emulated"
  KITH_EMULATOR_CHIP=$1 GTEST_TOTAL_SHARDS=$parts GTEST_SHARD_INDEX=$part build/asan/tests/test_emulated --gtest_brief=1
}

chips() {
  cmake --preset emulated "$together" &&
    cmake --build --preset emulated -j "$jobs" --target test_emulated test_api || return 1
  bad=""
  for chip in sm_90 $other_chips; do
    chip_begin=$(date +%s)
    KITH_EMULATOR_CHIP=$chip ctest --preset emulated -j "$jobs" -R '^emulated[.]' &&
      KITH_EMULATOR_CHIP=$chip GTEST_FILTER='*emulated*' ctest --preset emulated -j "$jobs" -R '^api[.]' ||
      bad="$bad $chip"
    echo "chip: $chip, $(($(date +%s) - chip_begin)) s"
  done
  [ -z "$bad" ] || { echo "chip: failed on$bad"; return 1; }
}

tsan() {
  # The tests in which threads meet; the others would only take longer.
  cmake --preset tsan "$together" && cmake --build --preset tsan -j "$jobs" --target test_cpu test_api test_collection test_devices &&
    GTEST_FILTER='Collection*:*CollectionChanges*:*CollectionFilterOn*:Parallel*:Targets*:Index*:*RadiusOn.Budgets*cpu:Distances*:Topk*:Promise1ThreadCount*:Promise1BatchSize*:Promise4*:Promise7*:Threads*:WorkerCall*' \
      ctest --preset tsan -j "$jobs" -R '^(cpu|api[.].|collection|devices)$'
}

fuzz() {
  scripts/fuzz.sh 3
}

lint() {
  scripts/lint.sh
}

arm() {
  # The command line tool of this machine, whose answers that of ARM must repeat.
  cmake --preset release -DKITH_CUDA=OFF -DKITH_BUILD_TESTS=OFF && cmake --build --preset release -j "$jobs" --target kith_cli &&
    scripts/arm_sysroot.sh && cmake --preset arm -DKITH_NATIVE_CLI="$PWD/build/release/cli/kith" &&
    cmake --build --preset arm -j "$jobs" && ctest --preset arm -j "$jobs"
}

# The part of stage arm that compiles least: keys, bounds, orders and the kernels of the CPU backend beside the oracle.
neon() {
  scripts/arm_sysroot.sh && cmake --preset arm && cmake --build --preset arm -j "$jobs" --target test_core test_cpu &&
    ctest --preset arm -j "$jobs" -R '^(core|cpu)$'
}

# Runs stages one after the other.
lane() {
  for stage in "$@"; do
    stage_begin=$(date +%s)
    if $stage >build/logs/$stage.log 2>&1; then
      result=ok
      echo $stage >>build/logs/passed
    else
      result=FAILED
    fi
    {
      printf '%-8s %s\n' $stage "$result, $(($(date +%s) - stage_begin)) s"
      sed -n 's/.*Test *#[0-9]*: \([^ ]*\) .*\*\*\*Skipped.*/         skipped: \1/p' build/logs/$stage.log
      sed -n 's/^chip: /         /p' build/logs/$stage.log
      [ $result = ok ] || tail -n 60 build/logs/$stage.log
    } >build/logs/$stage.summary
    cat build/logs/$stage.summary
  done
}

mkdir -p build/logs
: >build/logs/passed
begin=$(date +%s)
stages="release python asan tsan fuzz lint"
# On ARM itself the other stages are for ARM.
[ "$(uname -m)" = aarch64 ] || stages="$stages neon"
first="" second=""
for stage in ${*:-$stages}; do
  case $stage in
    asan) [ "${LANES:-2}" = 1 ] && first="$first $stage" || second="$second $stage" ;;
    release | python | tsan | fuzz | lint | neon | chips | arm) first="$first $stage" ;;
    *) echo "test.sh: unknown stage '$stage'" >&2; exit 2 ;;
  esac
done
# A shell leaves what runs in the background alone when it is interrupted.
trap 'trap - INT TERM; kill 0' INT TERM
lane $second &
lane $first
wait
total=$(($(date +%s) - begin))
failed=""
for stage in $first $second; do
  grep -qx $stage build/logs/passed || failed="$failed $stage"
done
if [ -n "$failed" ]; then
  echo "FAILED:$failed, after $total s; whole output in build/logs"
  exit 1
fi
echo "all passed, $total s"
