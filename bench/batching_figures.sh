#!/bin/bash
# What batching promises, measured: every figure with its bound, in a minute or two. Times depend on the machine, the rest is
# the same everywhere.
#
#   bench/batching_figures.sh      needs build/release with odb-trainer and bench/batching_bench
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
for program in odb-trainer bench/batching_bench; do
  [[ -x build/release/$program ]] || fail "build/release/$program is not there; build it with scripts/build.sh"
done
"$PYTHON" bench/batching_figures.py
