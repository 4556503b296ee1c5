#!/bin/sh
# Lists every C, C++ and CUDA source of the project, one per line.
set -eu
cd "$(dirname "$0")/.."
find include src emulator support cli python tests bench fuzz examples -type f \
  \( -name '*.c' -o -name '*.h' -o -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) | sort
