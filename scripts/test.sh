#!/bin/bash
# Builds and runs the tests: all except those with the label slow, or with --slow only those. Further arguments go to
# ctest.
#
#   scripts/test.sh [--slow] [ctest options]      e.g. scripts/test.sh -R alignment
#   PRESET=debug scripts/test.sh                  another preset
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
PRESET=${PRESET:-release}
labels=(-LE '^slow$')
if [[ ${1:-} == --slow ]]; then
  labels=(-L '^slow$')
  shift
fi
scripts/build.sh
scripts/fetch_test_data.sh
[[ $PRESET == *san || ! -d .venv ]] || scripts/transformers_venv.sh
say "Testing preset $PRESET"
ctest --preset "$PRESET" "${labels[@]}" --no-tests=error -j "$(nproc)" "$@"
