#!/bin/sh
# mpirun.sh MPIRUN RANKS PROGRAM...: starts PROGRAM on so many ranks of this machine, however few cores it has and
# whoever runs it.
set -eu
launcher=$1 ranks=$2
shift 2
export OMP_NUM_THREADS=1
case $("$launcher" --version 2>&1) in
  *"Open"*)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Cores are not bound: ranks of other tests run beside. Neither are networks looked for.
    exec "$launcher" --oversubscribe --bind-to none --mca btl self,vader --mca pml ob1 -n "$ranks" "$@" ;;
  *) exec "$launcher" -n "$ranks" "$@" ;;
esac
