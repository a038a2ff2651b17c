#!/bin/bash
# Runs the tests of the modules without LibTorch under sanitizers: address and undefined behavior (asan), threads
# (tsan).
#
#   scripts/sanitize.sh [asan|tsan]      default: both
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
presets=("${@:-asan}")
(($# > 0)) || presets=(asan tsan)
failed=()
for preset in "${presets[@]}"; do
  [[ $preset == asan || $preset == tsan ]] || fail "found '$preset', expected asan or tsan" 2
  PRESET=$preset scripts/test.sh || failed+=("$preset")
done
((${#failed[@]} == 0)) || fail "failed under: ${failed[*]}"
