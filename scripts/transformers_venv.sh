#!/bin/bash
# Makes .cache/transformers, the environment of the checks and comparisons that want transformers or the reference
# implementation of Online Dynamic Batching; torch in it is the one of .venv, which the trainer is built against.
#
#   scripts/transformers_venv.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
venv=.cache/transformers
[[ -d .venv ]] || fail "no .venv with torch; run scripts/build.sh without an own LIBTORCH"
site=$(echo "$(realpath .venv)"/lib/python3*/site-packages)
make_venv "$venv"
if ! cmp -s scripts/requirements-transformers.txt "$venv/installed.txt"; then
  say "Installing transformers into $venv"
  # The reference asks for torch, which is there already.
  "$venv/bin/python" -m pip install -q -r scripts/requirements-transformers.txt
  "$venv/bin/python" -m pip install -q --no-deps online-dynamic-batching==0.1.2
  cp scripts/requirements-transformers.txt "$venv/installed.txt"
fi
echo "$site" >"$(echo "$venv"/lib/python3*/site-packages)/torch-of-the-trainer.pth"
