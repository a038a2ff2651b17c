#!/bin/bash
# Measures whether the batching strategy changes what a model learns. From the same trained weights, it trains one epoch on
# the same conversations with ODB (flat, padded), standard batches and packing, three seeds each, and compares the loss on
# held-out conversations. docs/quality.md has the table.
#
#   bench/quality.sh [--samples N] [--seeds N]      needs build/release/odb-trainer (or TRAINER=path), and two cores for
#                                                   15 minutes to an hour; keeps the first weights in
#                                                   .cache/bench-quality
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
export TRAINER=${TRAINER:-build/release/odb-trainer}
scripts/make_demo.sh
"$PYTHON" bench/quality.py "$@"
