#!/bin/bash
# Creates .cache/transformers, the environment of the checks and comparisons that need transformers or the reference
# implementation of Online Dynamic Batching. Its torch is the one of .venv, which the trainer is built against.
#
#   scripts/transformers_venv.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
venv=.cache/transformers
[[ -d .venv ]] || fail "no .venv with torch; run scripts/build.sh without LIBTORCH"
site=$(echo "$(realpath .venv)"/lib/python3*/site-packages)
make_venv "$venv"
if ! cmp -s scripts/requirements-transformers.txt "$venv/installed.txt"; then
  say "Installing transformers into $venv"
  # The reference requires torch, which is already available.
  "$venv/bin/python" -m pip install -q -r scripts/requirements-transformers.txt
  "$venv/bin/python" -m pip install -q --no-deps online-dynamic-batching==0.1.2
  cp scripts/requirements-transformers.txt "$venv/installed.txt"
fi
echo "$site" >"$(echo "$venv"/lib/python3*/site-packages)/torch-of-the-trainer.pth"
