"""The runs of quality.sh. All see the same views once, from the same random weights (those of the seed), in about the same
number of updates: standard batches have two talks a rank, the others a budget that takes as many real tokens. Two ranks of one
thread.

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
TRAINER = os.environ.get("TRAINER", "build/release/odb-trainer")
DEMO, WORK = ROOT / ".cache/demo", ROOT / ".cache/bench-quality"
EVALUATED = 200  # talks
BUDGET = 1180  # tokens of a rank and update: two talks have as many on average
STRATEGIES = {"odb-flat": ["--batching", "odb", "--layout", "flat", "--l-max", BUDGET],
              "odb-padded": ["--batching", "odb", "--layout", "padded", "--l-max", round(BUDGET / 0.87)],  # 13 % are padding
              "standard": ["--batching", "standard", "--batch-size", 2, "--layout", "flat", "--l-max", BUDGET],
              "packing": ["--batching", "packing", "--layout", "flat", "--l-max", BUDGET]}
COMMON = ["--model", DEMO / "model", "--init", "random", "--chat-template", "chatml", "--cutoff-len", 1024, "--lr", "2e-3",
          "--epochs", 1, "--device", "cpu", "--threads", 1, "--console", "off", "--overwrite", "on"]


def cut(name, count):
    lines = (DEMO / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:count]
    (WORK / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return WORK / f"{name}.jsonl"


def run(name, seed, train, evaluation):
    folder = WORK / f"{name}-{seed}"
    words = [TRAINER, "launch", "--nproc", 2, "--", "train", "--data", train, "--eval-data", evaluation, *COMMON,
             *STRATEGIES[name], "--seed", seed, "--output", folder]
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{name}, seed {seed}: exit code {done.returncode}\n{done.stdout}")
    summary = json.loads((folder / "summary.json").read_text())
    loss = json.loads((folder / "evaluations.jsonl").read_text().splitlines()[-1])["loss"]
    print(f"{name}, seed {seed}: loss {loss:.4f} after {summary['steps']} steps, {summary['unique_views']} views",
          file=sys.stderr, flush=True)
    return {"loss": loss, **{key: summary[key] for key in ("steps", "unique_views", "left_out_views", "tokens", "seconds")}}


def verdict(differences, loss):
    mean = statistics.mean(differences)
    error = statistics.stdev(differences) / len(differences) ** 0.5
    return mean, error, "noise" if abs(mean) <= max(2 * error, 0.005 * loss) else "differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    if options.seeds < 2:
        parser.error("found one seed, wanted at least two")
    WORK.mkdir(parents=True, exist_ok=True)
    train, evaluation = cut("train", options.samples), cut("eval", EVALUATED)
    runs = {name: [] for name in STRATEGIES}
    for seed in range(options.seeds):
        for name, found in runs.items():
            found.append(run(name, seed, train, evaluation))
    views = {found["unique_views"] + found["left_out_views"] for measured in runs.values() for found in measured}
    if len(views) != 1:
        sys.exit(f"not all runs saw the same number of views: {sorted(views)}")
    print(f"{views.pop()} views, {EVALUATED} talks to evaluate on, {options.seeds} seeds\n")
    print("| strategy | steps | loss | minus odb-flat | |\n|---|---|---|---|---|")
    first = runs["odb-flat"]
    for name, found in runs.items():
        losses = [one["loss"] for one in found]
        mean, error, words = verdict([one["loss"] - other["loss"] for one, other in zip(found, first)], statistics.mean(losses))
        apart = "" if found is first else f"{mean:+.4f} ± {error:.4f}"
        print(f"| {name} | {statistics.mean(one['steps'] for one in found):.1f} | {statistics.mean(losses):.4f} ± "
              f"{statistics.stdev(losses):.4f} | {apart} | {'' if found is first else words} |")
    (WORK / "result.json").write_text(json.dumps(runs, indent=1))


main()
