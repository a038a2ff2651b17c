#!/bin/bash
# Does the way batches are formed change what a model learns? One epoch over the same talks by ODB (flat, padded), standard
# batches and packing, three seeds each: the loss on talks that were not trained. docs/quality.md has the table.
#
#   bench/quality.sh [--samples N] [--seeds N]      needs build/release/odb-trainer (or TRAINER=path); about ten minutes
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
export TRAINER=${TRAINER:-build/release/odb-trainer}
scripts/make_demo.sh
"$PYTHON" bench/quality.py "$@"
