#!/bin/bash
# Compares forward and backward of two models with transformers 4.57 (eager, SDPA): tokens per second and peak memory, in
# fp32 and bf16, on batches of the real chat corpus. Also measures how fast 2 GB of weights are loaded.
#
#   bench/model_vs_transformers.sh [--rounds N] [--batches N] [--dtype fp32 bf16] [--only small|slice|loading]
#                                                needs build/release/odb-trainer and a Python package index
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
scripts/fetch_test_data.sh
make_venv .cache/model-venv
venv_has .cache/model-venv torch==2.13.0 transformers==4.57.6 \
  || .cache/model-venv/bin/python -m pip install -q torch==2.13.0 transformers==4.57.6
.cache/model-venv/bin/python bench/model_vs_transformers.py "$@"
