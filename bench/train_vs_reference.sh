#!/bin/bash
# Training beside the reference stack, on two ranks of one thread: transformers 4.57 (Qwen3, SDPA), DDP over Gloo and the
# reference implementation of Online Dynamic Batching (online-dynamic-batching), against odb-trainer. Same model, weights,
# talks and optimizer, configurations taken in turn: real tokens per second, memory, start, waits, loss.
#
#   bench/train_vs_reference.sh [--rounds N] [--samples N] [--only NAME...]
#                      needs build/release/odb-trainer (or TRAINER=path), .venv and a Python package index; a quiet machine
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
export TRAINER=${TRAINER:-build/release/odb-trainer}
venv=.cache/train-venv
scripts/make_demo.sh
# torch is the one that the trainer is built against.
make_venv "$venv"
venv_has "$venv" transformers==4.57.6 online-dynamic-batching==0.1.2 \
  || "$venv/bin/python" -m pip install -q --no-deps online-dynamic-batching==0.1.2
venv_has "$venv" transformers==4.57.6 || "$venv/bin/python" -m pip install -q transformers==4.57.6
site=$(echo "$(realpath .venv)"/lib/python3*/site-packages)
[[ -d $site/torch ]] || fail "no torch in .venv; run scripts/build.sh"
echo "$site" >"$(echo "$venv"/lib/python3*/site-packages)/torch-of-the-trainer.pth"
"$venv/bin/python" bench/train_vs_reference.py "$@"
