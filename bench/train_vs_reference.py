#!/usr/bin/env python3
"""The measurements of train_vs_reference.sh. Configurations, each with two ranks of one CPU thread, one epoch over the first
conversations of the demo's data, cut to 2,048 tokens, budget 4,096 per rank and step, AdamW at a constant rate:

  reference           transformers, DDP, the reference's ODB (padded)       reference-bs1, -bs4   fixed batch sizes instead
  flat, flat-bf16     odb-trainer with its defaults; with activations in bf16
  padded              odb-trainer's ODB in the reference's layout           padded-bs4            fixed batch size instead

Rates count tokens without padding over both ranks, from the fourth step on, as measured by rank 0. Memory is that of a rank,
sampled from outside every 0.2 s: the peak of its training process (VmHWM), and of all its processes together (PSS). The loss
is that on held-out conversations after the epoch, so after the same tokens. A slow result is no failure: targets are only
compared.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRAINER = os.environ.get("TRAINER", "build/release/odb-trainer")
DEMO, WORK = ROOT / ".cache/demo", ROOT / ".cache/bench-train"
CUTOFF, L_MAX, WORLD, LR, SEED, SKIPPED = 2048, 4096, 2, 1e-3, 0, 3
EVALUATED = 100  # conversations
OURS = {"flat": ["--layout", "flat"], "flat-bf16": ["--layout", "flat", "--dtype", "bf16"],
        "padded": ["--layout", "padded"],
        "padded-bs4": ["--layout", "padded", "--batching", "standard", "--batch-size", "4"]}
REFERENCE = {"reference": None, "reference-bs1": 1, "reference-bs4": 4}  # batch size


def processes_below(roots):
    """{root: [the process and all its descendants]}"""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                pass
    below = {root: [root] for root in roots}
    for process in parents:
        at = process
        while at in parents and at not in below:
            at = parents[at]
        if at in below and at != process:
            below[at].append(process)
    return below


def children(process):
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def bytes_of(path, key):
    try:
        return next(int(line.split()[1]) * 1024 for line in pathlib.Path(path).read_text().splitlines()
                    if line.startswith(key))
    except (OSError, StopIteration):
        return 0


class MemoryWatch(threading.Thread):
    """Peaks of the rank that took the most, of the processes that `ranks` returns, until stop()."""

    def __init__(self, ranks):
        super().__init__(daemon=True)
        self.ranks, self.ended = ranks, threading.Event()
        self.process_peak = self.all_peak = 0

    def run(self):
        while not self.ended.wait(0.2):
            for root, below in processes_below(self.ranks()).items():
                self.process_peak = max(self.process_peak, bytes_of(f"/proc/{root}/status", "VmHWM:"))
                self.all_peak = max(self.all_peak, sum(bytes_of(f"/proc/{process}/smaps_rollup", "Pss:") for process in below))

    def stop(self):
        self.ended.set()
        self.join()
        return {"process_peak_bytes": self.process_peak, "rank_peak_bytes": self.all_peak}


def steady(seconds, waits, tokens):
    """Rates of the steps after the first few."""
    seconds, waits, tokens = (values[SKIPPED:] for values in (seconds, waits, tokens))
    return {"tokens_per_second": sum(tokens) / sum(seconds), "data_wait_share": sum(waits) / sum(seconds),
            "step_seconds": statistics.mean(seconds)}


def run_reference(name, batch_size, round_number):
    folder = WORK / "runs" / f"{name}-{round_number}"
    subprocess.run(["rm", "-rf", folder], check=True)
    folder.mkdir(parents=True)
    settings = {"model": str(WORK / "model"), "train": str(WORK / "train.ids.jsonl"), "eval": str(WORK / "eval.ids.jsonl"),
                "batch_size": batch_size, "l_max": L_MAX, "world": WORLD, "lr": LR, "seed": SEED,
                "store": str(folder / "store"), "result": str(folder / "result.json")}
    command = [sys.executable, str(ROOT / "bench/train_reference_rank.py"), json.dumps(settings)]
    with open(folder / "log", "w", encoding="utf-8") as log:
        ranks = [subprocess.Popen([*command, str(rank), str(time.monotonic())], stdout=log, stderr=log)
                 for rank in range(WORLD)]
        watch = MemoryWatch(lambda: [rank.pid for rank in ranks])
        watch.start()
        codes = [rank.wait() for rank in ranks]
    memory = watch.stop()
    if any(codes):
        sys.exit(f"{name}: exit codes {codes}; see {folder}/log")
    report = json.loads((folder / "result.json").read_text())
    first, tokens = report["ranks"][0], []
    for step in range(len(first)):
        tokens.append(sum(rank[step]["tokens"] for rank in report["ranks"] if step < len(rank)))
    return {**steady([step["seconds"] for step in first], [step["wait"] for step in first], tokens), **memory,
            "first_step_seconds": report["first_step_seconds"], "steps": len(first), "tokens": sum(tokens),
            "eval_loss": report["eval_loss"]}


def data_arguments():
    return ["--data", WORK / "train.jsonl", "--chat-template", "chatml", "--cutoff-len", CUTOFF, "--l-max", L_MAX,
            "--seed", SEED, "--data-workers", 1]


def run_ours(name, arguments, round_number):
    folder = WORK / "runs" / f"{name}-{round_number}"
    subprocess.run(["rm", "-rf", folder], check=True)
    command = [TRAINER, "launch", "--nproc", WORLD, "--", "train", "--model", WORK / "model", *data_arguments(), "--eval-data",
               WORK / "eval.jsonl", "--lr", LR, "--lr-schedule", "constant", "--warmup", 0, "--epochs", 1, "--device", "cpu",
               "--threads", 1, "--console", "off", "--output", folder, *arguments]
    begin = time.monotonic()
    subprocess.run([TRAINER, "version"], check=True, stdout=subprocess.DEVNULL)
    loading = time.monotonic() - begin  # of the binary, before it measures its own time
    with open(WORK / f"{name}.log", "w", encoding="utf-8") as log:
        launcher = subprocess.Popen([str(argument) for argument in command], stdout=log, stderr=log)
        watch = MemoryWatch(lambda: children(launcher.pid))
        watch.start()
        code = launcher.wait()
    memory = watch.stop()
    if code:
        sys.exit(f"{name}: exit code {code}; see {WORK / name}.log")
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    summary = json.loads((folder / "summary.json").read_text())
    tokens = [line["tokens"] - before for line, before in zip(lines, [0, *(line["tokens"] for line in lines)])]
    return {**steady([line["step_seconds"] for line in lines], [line["data_wait_seconds"] for line in lines], tokens),
            **memory, "first_step_seconds": summary["first_step_seconds"] + loading, "steps": len(lines),
            "tokens": summary["tokens"],
            "eval_loss": json.loads((folder / "evaluations.jsonl").read_text().splitlines()[-1])["loss"]}


def alignment_seconds_per_step():
    """What collate's alignment takes per step, measured with the loader only (in training it overlaps the steps)."""
    command = [TRAINER, "bench", "loader", "--nproc", WORLD, "--tokenizer", WORK / "model", *data_arguments(), "--json"]
    report = json.loads(subprocess.run([str(argument) for argument in command], check=True, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL).stdout)
    return report["align_milliseconds_per_round"] / 1000 * report["rounds"] / report["slots"], report  # both are of one rank


def prepare(samples):
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
    (WORK / "runs").mkdir(parents=True, exist_ok=True)
    for name, count in (("train", samples), ("eval", EVALUATED)):
        lines = (DEMO / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[:count]
        (WORK / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [TRAINER, "tokenize", "--samples", "--tokenizer", DEMO / "model", "--chat-template", "chatml", "--cutoff-len",
                   CUTOFF]
        made = subprocess.run([str(argument) for argument in command], input="\n".join(lines), text=True, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        ids = [line for line in made.splitlines() if "input_ids" in line]
        (WORK / f"{name}.ids.jsonl").write_text("\n".join(ids) + "\n")
    torch.manual_seed(SEED)
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(DEMO / "model")).float()
    model.save_pretrained(WORK / "model")
    for file in ("tokenizer.json", "tokenizer_config.json", "config.json"):
        (WORK / "model" / file).write_bytes((DEMO / "model" / file).read_bytes())


def median(runs):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def show(found, targets):
    print(f"{'':14} {'tokens/s':>9} {'process':>9} {'rank':>9} {'first step':>11} {'data wait':>10} {'steps':>6} {'eval loss':>10}")
    for name, run in found.items():
        print(f"{name:14} {run['tokens_per_second']:9.0f} {run['process_peak_bytes'] / 1e9:6.2f} GB "
              f"{run['rank_peak_bytes'] / 1e9:6.2f} GB {run['first_step_seconds']:9.2f} s {100 * run['data_wait_share']:8.2f} % "
              f"{run['steps']:6.0f} {run['eval_loss']:10.4f}")
    for target in targets:
        print(f"{'met   ' if target['met'] else 'MISSED'} {target['what']}: found {target['found']:.4g}, "
              f"expected {target['sign']} {target['bound']:g}")


def compare(found, alignment):
    """The targets that apply to the configurations that ran."""
    targets = []

    def target(what, needs, value, sign, bound):
        if all(name in found for name in needs):
            result = value()
            met = {">=": result >= bound, "<=": result <= bound, ">": result > bound, "<": result < bound}[sign]
            targets.append({"what": what, "found": result, "sign": sign, "bound": bound, "met": met})

    def ratio(key, first, second):
        return lambda: found[first][key] / found[second][key]

    target("flat over the reference, fp32", ("flat", "reference"), ratio("tokens_per_second", "flat", "reference"), ">=", 1.6)
    target("flat in bf16 over the reference in fp32 (a processor with AMX)", ("flat-bf16", "reference"),
           ratio("tokens_per_second", "flat-bf16", "reference"), ">=", 2.5)
    target("difference in loss of flat in bf16 and in fp32 (the same batches)", ("flat-bf16", "flat"),
           lambda: abs(found["flat-bf16"]["eval_loss"] / found["flat"]["eval_loss"] - 1), "<=", 0.02)
    target("difference in loss of flat in bf16 and that reference", ("flat-bf16", "reference"),
           lambda: abs(found["flat-bf16"]["eval_loss"] / found["reference"]["eval_loss"] - 1), "<=", 0.02)
    target("padded ODB over our own padded batch size 4", ("padded", "padded-bs4"),
           ratio("tokens_per_second", "padded", "padded-bs4"), ">=", 1.5)
    target("flat over padded", ("flat", "padded"), ratio("tokens_per_second", "flat", "padded"), ">", 1)
    target("data wait of a step", ("flat",), lambda: found["flat"]["data_wait_share"], "<=", 0.01)
    target("alignment of a step", ("flat",), lambda: alignment / found["flat"]["step_seconds"], "<", 0.01)
    target("peak of the training process over the reference's", ("flat", "reference"),
           ratio("process_peak_bytes", "flat", "reference"), "<=", 0.5)
    target("peak of all processes of a rank over the reference's", ("flat", "reference"),
           ratio("rank_peak_bytes", "flat", "reference"), "<=", 0.5)
    target("seconds to the end of the first step", ("flat",), lambda: found["flat"]["first_step_seconds"], "<", 2)
    return targets


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--only", nargs="+", choices=[*REFERENCE, *OURS], default=[*REFERENCE, *OURS])
    options = parser.parse_args()
    prepare(options.samples)
    runs = {name: [] for name in options.only}
    for round_number in range(options.rounds):
        for name in options.only:
            run = (run_ours(name, OURS[name], round_number) if name in OURS
                   else run_reference(name, REFERENCE[name], round_number))
            runs[name].append(run)
            print(f"round {round_number + 1}, {name}: {run['tokens_per_second']:.0f} tokens/s", file=sys.stderr, flush=True)
    alignment, loader = alignment_seconds_per_step()
    found = {name: median(measured) for name, measured in runs.items()}
    targets = compare(found, alignment)
    show(found, targets)
    result = {"samples": options.samples, "rounds": options.rounds, "median": found, "runs": runs, "targets": targets,
              "alignment_seconds_per_step": alignment, "loader": loader}
    (WORK / "result.json").write_text(json.dumps(result, indent=1))
    print(f"all figures: {WORK / 'result.json'}")


main()
