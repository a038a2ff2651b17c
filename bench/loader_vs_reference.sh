#!/bin/bash
# Compares our data processes with the reference implementation of Online Dynamic Batching (Python:
# online-dynamic-batching with Hugging Face tokenizers): same machine, same chat corpus, Qwen's vocabulary, L_max 8,192,
# padded, one rank, the same number of workers, rounds in turn; medians. Once with conversations as input, once with ids.
#
#   bench/loader_vs_reference.sh [ROUNDS]      default 3; needs build/release/odb-trainer and a Python package index
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
rounds=${1:-3}
venv=.cache/bench-loader
scripts/fetch_test_data.sh
# Its torch is the one that the trainer is built against.
make_venv "$venv"
"$venv/bin/python" -m pip install -q --no-deps online-dynamic-batching==0.1.2 tokenizers==0.22.2
site=$(echo "$ROOT"/.venv/lib/python3*/site-packages)
[[ -d $site/torch ]] || fail "no torch in .venv; run scripts/build.sh"
echo "$site" >"$(echo "$venv"/lib/python3*/site-packages)/torch-of-the-trainer.pth"
[[ -s $venv/corpus.tokens.jsonl ]] \
  || build/release/odb-trainer tokenize --samples --tokenizer .cache/test-data/qwen2 <.cache/test-data/corpus.jsonl \
    2>/dev/null >"$venv/corpus.tokens.jsonl"
"$venv/bin/python" bench/loader_vs_reference.py "$rounds" "$venv/corpus.tokens.jsonl"
