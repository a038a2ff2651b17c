#!/bin/bash
# Does the way batches are formed change what a model learns? From the same trained weights, one epoch over the same talks by ODB
# (flat, padded), standard batches and packing, three seeds each: the loss on talks that were not trained. docs/quality.md has
# the table.
#
#   bench/quality.sh [--samples N] [--seeds N]      needs build/release/odb-trainer (or TRAINER=path), and two cores for 15 minutes to an
#                                                   hour; the first weights are kept in .cache/bench-quality
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
export TRAINER=${TRAINER:-build/release/odb-trainer}
scripts/make_demo.sh
"$PYTHON" bench/quality.py "$@"
