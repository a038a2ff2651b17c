#!/bin/bash
# Measures the promised figures of batching and prints each with its bound, in a minute or two. Times depend on the
# machine; everything else is the same everywhere.
#
#   bench/batching_figures.sh      needs build/release with odb-trainer and bench/batching_bench
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
for program in odb-trainer bench/batching_bench; do
  [[ -x build/release/$program ]] || fail "build/release/$program not found; build it with scripts/build.sh"
done
"$PYTHON" bench/batching_figures.py
