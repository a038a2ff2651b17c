#!/bin/bash
# Prints where the time of a training step goes: the model of the quickstart (3.2 M parameters, 4 layers) on 2 ranks with
# one thread each, 4,096 tokens per micro-batch, AdamW, clipping; from phase_seconds of the run's summary.json. Fails when
# the update takes more than 10 % of the steps, or votes and bookkeeping more than 3 %.
#
#   bench/step_shares.sh [STEPS] [DEMO]    20 steps; DEMO: a folder of scripts/make_demo.py, .cache/demo by default (created
#                                          when missing); needs build/release/odb-trainer and two idle cores
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
steps=${1:-20}
demo=${2:-.cache/demo}
trainer=${TRAINER:-build/release/odb-trainer}
[[ -x $trainer ]] || fail "$trainer not found; build it with scripts/build.sh"
if [[ ! -f $demo/model/tokenizer.json ]]; then
  scripts/fetch_test_data.sh
  .cache/test-data/venv/bin/python scripts/make_demo.py "$demo"
fi
run=$(mktemp -d)
launch=
trap '[[ -z $launch ]] || kill -KILL "$launch" 2>/dev/null; rm -rf "$run"' EXIT
"$trainer" launch --nproc 2 -- train --data "$demo/train.jsonl" --model "$demo/model" --init random --l-max 4096 --lr 3e-4 \
  --threads 1 --device cpu --data-workers 1 --max-steps "$steps" --output "$run/out" --console off 2>"$run/lines" &
launch=$!
wait "$launch" || { cat "$run/lines"; fail "the run failed"; }
launch=
"$PYTHON" - "$run/out/summary.json" <<'PYTHON'
import json
import sys

summary = json.load(open(sys.argv[1]))
phases = summary["phase_seconds"]
steps = sum(phases.values()) - phases["data_wait"] - phases["events"]  # of rank 0; only training itself
print(f"{summary['steps']} steps of {summary['tokens'] // summary['steps']} tokens on {summary['world_size']} ranks,"
      f" {steps / summary['steps']:.2f} s each")
rows = [("forward", ["forward"], None), ("backward, with the reduction", ["backward"], None),
        ("update: clipping and optimizer", ["update"], 10), ("control and everything else", ["control", "other"], 3)]
exceeded = False
for name, keys, limit in rows:
    share = 100 * sum(phases[key] for key in keys) / steps
    exceeded |= limit is not None and share > limit
    print(f"  {name:32}{share:6.2f} %" + (f"   at most {limit} %" if limit else ""))
print(f"  not included: data wait {phases['data_wait']:.2f} s, files and console {phases['events']:.2f} s")
sys.exit(1 if exceeded else 0)
PYTHON
