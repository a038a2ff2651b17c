#!/bin/bash
# Compares our tokenizer with Hugging Face tokenizers and gigatoken: same machine, same core, same texts, rounds in turn so
# that a busy machine affects all equally; median and best. Qwen's full vocabulary, the corpus of
# scripts/fetch_test_data.sh.
#
#   bench/tokenizer_vs_others.sh [ROUNDS]      default 5; needs build/release/odb-trainer and a Python package index
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
rounds=${1:-5}
scripts/fetch_test_data.sh
make_venv .cache/bench-tokenizer
.cache/bench-tokenizer/bin/python -m pip install -q tokenizers==0.22.2 gigatoken==0.10.0
core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
taskset -c "$core" .cache/bench-tokenizer/bin/python bench/tokenizer_vs_others.py "$rounds"
