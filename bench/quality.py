"""The runs of quality.sh. First weights are trained on talks that no other run sees. From them every strategy and seed fine-tunes
on the same views once, in the same number of updates: standard batches have two talks a rank; for the others the budget of
tokens is sought that makes as many batches of the same data (bench loader forms them without a model). Two ranks of one thread.

A strategy is judged by its differences from odb-flat, seed by seed: they are noise if their mean is within two standard
errors, or under half a percent of the loss. The standard error is over few seeds, so it is rough itself.
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
EVALUATED = 200  # talks
FINE_TUNED = 800  # talks at most; those behind them train the first weights
FIRST_TRAINED = 400  # few, so that the epoch behind them has much to gain
BATCH = 2  # talks of a rank and update, in standard batches
STRATEGIES = {"odb-flat": ["--batching", "odb", "--layout", "flat"],
              "odb-padded": ["--batching", "odb", "--layout", "padded"],
              "standard": ["--batching", "standard", "--layout", "flat", "--batch-size", BATCH],
              "packing": ["--batching", "packing", "--layout", "flat"]}
DATA = ["--chat-template", "chatml", "--cutoff-len", 1024]
COMMON = [*DATA, "--epochs", 1, "--device", "cpu", "--threads", 1, "--console", "off", "--overwrite", "on"]


def cut(name, first, count):
    lines = (DEMO / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[first:first + count]
    if len(lines) < count:
        sys.exit(f"{DEMO / name}.jsonl has too few talks for {count} from the {first + 1}th on")
    path = WORK / f"{name}-{first}-{count}.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def call(words):
    words = [str(word) for word in (TRAINER, *words)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def updates(strategy, budget, seed, data):
    output = call(["bench", "loader", "--nproc", 2, "--json", "--data", data, "--tokenizer", DEMO / "model", *DATA, *strategy,
                   "--l-max", budget, "--seed", seed])
    return json.loads(output[output.index("{"):])["slots"]


def sought_budget(strategy, seed, data, wanted):
    """The tokens of a batch that come nearest to `wanted` updates: fewer tokens make more of them."""
    low, high = 1024, 4096
    found = {}
    while low <= high:
        middle = (low + high) // 2
        found[middle] = updates(strategy, middle, seed, data)
        if found[middle] == wanted:
            return middle
        low, high = (middle + 1, high) if found[middle] > wanted else (low, middle - 1)
    return min(found, key=lambda budget: abs(found[budget] - wanted))


def last_loss(folder):
    return json.loads((folder / "evaluations.jsonl").read_text().splitlines()[-1])["loss"]


def train(folder, data, evaluation, words):
    call(["launch", "--nproc", 2, "--", "train", "--data", data, "--eval-data", evaluation, *COMMON, *words, "--output", folder])
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
        parser.error("found one seed, wanted at least two")
    if options.samples > FINE_TUNED:
        parser.error(f"found {options.samples} samples, wanted at most {FINE_TUNED}")
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
            words = ["--model", model, "--lr", "1e-3", "--seed", seed, *strategy]
            if name != "standard":
                words += ["--l-max", sought_budget(strategy, seed, data, options.samples // (2 * BATCH))]
            runs[name].append(train(WORK / f"{name}-{seed}", data, evaluation, words))
    views = {found["unique_views"] + found["left_out_views"] for measured in runs.values() for found in measured}
    if len(views) != 1:
        sys.exit(f"not all runs saw the same number of views: {sorted(views)}")
    print(f"{views.pop()} views, {EVALUATED} talks to evaluate on, {options.seeds} seeds; loss before: {before:.4f}\n")
    print("| strategy | updates | loss | minus odb-flat | |\n|---|---|---|---|---|")
    first = runs["odb-flat"]
    gain = before - statistics.mean(one["loss"] for one in first)
    for name, found in runs.items():
        losses = [one["loss"] for one in found]
        mean, error, words = verdict([one["loss"] - other["loss"] for one, other in zip(found, first)], gain)
        apart = "" if found is first else f"{mean:+.4f} ± {error:.4f}"
        print(f"| {name} | {statistics.mean(one['steps'] for one in found):.1f} | {statistics.mean(losses):.4f} ± "
              f"{statistics.stdev(losses):.4f} | {apart} | {'' if found is first else words} |")
    (WORK / "result.json").write_text(json.dumps(runs, indent=1))


main()
