"""The runs of quality.sh. The first weights are trained on conversations that no other run uses. From them, every strategy and
seed fine-tunes once on the same views, in the same number of updates. Standard batches have two conversations per rank. For
the others, the script searches for the token budget that gives as many batches of the same data (bench loader forms them
without a model). Two ranks with one thread each.

The result of a strategy is its differences from odb-flat, seed by seed. They are noise if their mean is within two standard
errors, or within five percent of what the epoch gained. The standard error is over few seeds, so it is itself rough.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRAINER = os.environ["TRAINER"]
DEMO, WORK = ROOT / ".cache/demo", ROOT / ".cache/bench-quality"
EVALUATED = 200  # conversations
FINE_TUNED = 800  # conversations at most; those after them train the first weights
FIRST_TRAINED = 400  # few, so that the epoch after them has much to gain
BATCH = 2  # conversations per rank and update, in standard batches
STRATEGIES = {"odb-flat": ["--batching", "odb", "--layout", "flat"],
              "odb-padded": ["--batching", "odb", "--layout", "padded"],
              "standard": ["--batching", "standard", "--layout", "flat", "--batch-size", BATCH],
              "packing": ["--batching", "packing", "--layout", "flat"]}
DATA = ["--chat-template", "chatml", "--cutoff-len", 1024]
COMMON = [*DATA, "--epochs", 1, "--device", "cpu", "--threads", 1, "--console", "off", "--resume", "never", "--overwrite", "on"]


def cut(name, first, count):
    lines = (DEMO / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[first:first + count]
    if len(lines) < count:
        sys.exit(f"{DEMO / name}.jsonl has too few conversations for {count} from number {first + 1} on")
    path = WORK / f"{name}-{first}-{count}.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def call(arguments):
    command = [str(argument) for argument in (TRAINER, *arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def updates(strategy, budget, seed, data):
    output = call(["bench", "loader", "--nproc", 2, "--json", "--data", data, "--tokenizer", DEMO / "model", *DATA, *strategy,
                   "--l-max", budget, "--seed", seed])
    return json.loads(output[output.index("{"):])["slots"]


def find_budget(strategy, seed, data, target):
    """The token budget whose number of updates is closest to `target`: fewer tokens give more updates."""
    low, high = 1024, 4096
    found = {}
    while low <= high:
        middle = (low + high) // 2
        found[middle] = updates(strategy, middle, seed, data)
        if found[middle] == target:
            return middle
        low, high = (middle + 1, high) if found[middle] > target else (low, middle - 1)
    return min(found, key=lambda budget: abs(found[budget] - target))


def last_loss(folder):
    return json.loads((folder / "evaluations.jsonl").read_text().splitlines()[-1])["loss"]


def train(folder, data, evaluation, arguments):
    call(["launch", "--nproc", 2, "--", "train", "--data", data, "--eval-data", evaluation, *COMMON, *arguments, "--output", folder])
    summary = json.loads((folder / "summary.json").read_text())
    loss = last_loss(folder)
    print(f"{folder.name}: loss {loss:.4f} after {summary['steps']} steps, {summary['unique_views']} views",
          file=sys.stderr, flush=True)
    return {"loss": loss, **{key: summary[key] for key in ("steps", "unique_views", "left_out_views", "tokens", "seconds")}}


def verdict(differences, gain):
    mean = statistics.mean(differences)
    error = statistics.stdev(differences) / len(differences) ** 0.5
    return mean, error, "noise" if abs(mean) <= max(2 * error, 0.05 * gain) else "differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error("found one seed, expected at least two")
    if options.samples > FINE_TUNED:
        parser.error(f"found {options.samples} samples, expected at most {FINE_TUNED}")
    WORK.mkdir(parents=True, exist_ok=True)
    data, evaluation = cut("train", 0, options.samples), cut("eval", 0, EVALUATED)

    first_run = WORK / f"before-{FIRST_TRAINED}"
    if not list((first_run / "checkpoints").glob("step-*")):
        train(first_run, cut("train", FINE_TUNED, FIRST_TRAINED), evaluation,
              ["--model", DEMO / "model", "--init", "random", "--batching", "standard", "--batch-size", BATCH, "--lr", "2e-3"])
    before = last_loss(first_run)
    model = next((first_run / "checkpoints").glob("step-*"))
    runs = {name: [] for name in STRATEGIES}
    for seed in range(options.seeds):
        for name, strategy in STRATEGIES.items():
            arguments = ["--model", model, "--lr", "1e-3", "--seed", seed, *strategy]
            if name != "standard":
                arguments += ["--l-max", find_budget(strategy, seed, data, options.samples // (2 * BATCH))]
            runs[name].append(train(WORK / f"{name}-{seed}", data, evaluation, arguments))
    views = {found["unique_views"] + found["left_out_views"] for measured in runs.values() for found in measured}
    if len(views) != 1:
        sys.exit(f"not all runs saw the same number of views: {sorted(views)}")
    print(f"{views.pop()} views, {EVALUATED} conversations to evaluate on, {options.seeds} seeds; loss before: {before:.4f}\n")
    print("| strategy | updates | loss | minus odb-flat | |\n|---|---|---|---|---|")
    first = runs["odb-flat"]
    gain = before - statistics.mean(one["loss"] for one in first)
    for name, found in runs.items():
        losses = [one["loss"] for one in found]
        mean, error, result = verdict([one["loss"] - other["loss"] for one, other in zip(found, first)], gain)
        difference = "" if found is first else f"{mean:+.4f} ± {error:.4f}"
        print(f"| {name} | {statistics.mean(one['steps'] for one in found):.1f} | {statistics.mean(losses):.4f} ± "
              f"{statistics.stdev(losses):.4f} | {difference} | {'' if found is first else result} |")
    (WORK / "result.json").write_text(json.dumps(runs, indent=1))


main()
