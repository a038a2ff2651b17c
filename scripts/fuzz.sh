#!/bin/bash
# Builds the fuzz targets with clang and the address and undefined-behavior sanitizers, and runs each for a while.
# Inputs that reach new code are kept in .cache/fuzz; so is an input that fails, and its name is printed.
#
#   scripts/fuzz.sh [SECONDS]      per target, default 20
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
seconds=${1:-20}
command -v clang++ >/dev/null || fail "clang++ is missing; scripts/build.sh installs it"
cmake --preset fuzz
cmake --build --preset fuzz -j "$(jobs)"
for program in build/fuzz/fuzz/odb_*_fuzzer; do
  name=$(basename "$program")
  corpus=.cache/fuzz/$name
  mkdir -p "$corpus/found" "$corpus/failed"
  say "$name for $seconds s"
  seeds=()
  [[ $name == *load* ]] && seeds=(tests/cases/tokenizer/*/)
  [[ $name == *round_trip* ]] && seeds=(tests/tokenizer/golden)
  [[ $name == odb_record_* ]] && seeds=(tests/cases/chat tests/cases/raw)
  [[ $name == odb_safetensors_* ]] && seeds=(tests/fuzz/model/safetensors_seeds)
  [[ $name == odb_model_config_* ]] && seeds=(tests/cases/models/*/ tests/golden/model/qwen2 tests/golden/model/llama3)
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=20000 -print_final_stats=1 \
    -artifact_prefix="$corpus/failed/" "$corpus/found" "${seeds[@]}" 2>&1 | tail -n 12
done
