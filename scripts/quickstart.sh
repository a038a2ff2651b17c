#!/bin/bash
# From a checkout to a trained model, on any machine with two cores: builds odb-trainer, creates a small model and takes
# real chat, trains the model from scratch on two ranks (configs/demo.json), evaluates, exports it, and generates an
# answer. It can be run again at any time: finished steps are skipped, and the training writes to a new folder.
#
#   scripts/quickstart.sh [train options]      e.g. scripts/quickstart.sh --max-tokens 100k; not --output, --console, --log-every
#   TRAINER=path scripts/quickstart.sh         uses this odb-trainer instead of building one
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
if [[ -z ${TRAINER:-} ]]; then
  TARGETS=odb-trainer scripts/build.sh
  TRAINER=build/release/odb-trainer
fi
scripts/make_demo.sh

runs=.cache/demo-runs
number=1
while [[ -e $runs/$number ]]; do ((number += 1)); done
run=$runs/$number
mkdir -p "$runs"

say "Training on two ranks into $run"
"$TRAINER" launch --nproc 2 -- train --config configs/demo.json --output "$run" --console lines --log-every 10 "$@"

checkpoint=$(printf '%s\n' "$run"/checkpoints/step-* | tail -n 1)
say "Exporting $checkpoint"
"$TRAINER" export "$checkpoint" "$run/model"

say "An answer from the model"
prompt="Hi! How are you today?"
# The folder says which chat template was trained, and which token ends an answer.
answer=$("$TRAINER" generate --model "$run/model" --max-new-tokens 48 --prompt "$prompt")
shown=${answer:-(empty: the end token came first)}
printf '  user:      %s\n  assistant: %s\n' "$prompt" "${shown//$'\n'/$'\n'             }"

# The same in transformers, in the environment of the tests, if it is installed (scripts/transformers_venv.sh).
if [[ -x .cache/transformers/bin/python ]]; then
  say "The same answer in transformers"
  .cache/transformers/bin/python scripts/answer_in_transformers.py "$run/model" 48 "$prompt" "$answer"
fi

say "The results
   $run/evaluations.jsonl   the loss on held-out conversations, before and after
   $run/metrics.jsonl       one line every ten steps
   $run/summary.json        totals
   $run/ledger/             which conversation was trained in which step, by rank
   $run/checkpoints/        the model after the last step, with optimizer and data state
   $run/model/              only the model; loads in transformers"
sed 's/^/   /' "$run/evaluations.jsonl"
