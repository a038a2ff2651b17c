#!/bin/bash
# Compares training with the reference stack, on two ranks with one thread each: transformers 4.57 (Qwen3, SDPA), DDP over
# Gloo and the reference implementation of Online Dynamic Batching (online-dynamic-batching). Same model, weights,
# conversations and optimizer, configurations in turn: tokens per second without padding, memory, startup, waits, loss.
#
#   bench/train_vs_reference.sh [--rounds N] [--samples N] [--only NAME...]
#                      needs build/release/odb-trainer (or TRAINER=path), .venv and a Python package index; a quiet machine
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
export TRAINER=${TRAINER:-build/release/odb-trainer}
scripts/make_demo.sh
scripts/transformers_venv.sh
.cache/transformers/bin/python bench/train_vs_reference.py "$@"
