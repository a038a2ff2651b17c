#!/usr/bin/env python3
"""Compares the estimate of `inspect model` with the peak in the summary of a training.

    bench/memory_vs_estimate.py build/release/odb-trainer DEMO [--steps N] [CASE ...]

DEMO is the folder of the quickstart (train.jsonl, model/). A CASE is MODEL,DTYPE,RECOMPUTE,TOKENS: "demo,fp32,none,4096". MODEL
is demo, 4 layers of hidden 192, or slice, 2 layers of hidden 1,024 with a vocabulary of 151,936. Packed batches, so that
micro-batches are full; about 4 GB of memory for slice. Exit code 1 when a ratio is not within 0.9 .. 1.3.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SLICE = dict(vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=2, num_attention_heads=16,
             num_key_value_heads=8, head_dim=128)
CASES = ["demo,fp32,none,1024", "demo,fp32,none,4096", "demo,fp32,none,16384", "demo,bf16,none,4096", "demo,fp32,block,4096",
         "demo,bf16,block,4096", "slice,fp32,none,1024", "slice,bf16,none,1024", "slice,fp32,block,1024"]


def measure(trainer, demo, folder, case, steps):
    name, dtype, recompute, tokens = case.split(",")
    model = demo / "model"
    if name == "slice":
        model = folder / "slice"
        shutil.copytree(demo / "model", model, dirs_exist_ok=True)
        config = json.loads((demo / "model/config.json").read_text())
        (model / "config.json").write_text(json.dumps({**config, **SLICE}))
    options = ["--model", model, "--init", "random", "--dtype", dtype, "--recompute", recompute, "--l-max", tokens]
    report = subprocess.run([trainer, "inspect", "model", "--json", *options], check=True, capture_output=True)
    estimate = json.loads(report.stdout)["memory_bytes"]["total"]
    run = folder / "run"
    subprocess.run([trainer, "train", "--device", "cpu", "--console", "off", "--resume", "never", "--overwrite", "on", "--batching", "packing",
                    "--data-workers", "1", "--max-steps", str(steps), "--data", demo / "train.jsonl", "--output", run,
                    "--cutoff-len", str(min(4096, int(tokens))), *options], check=True, stderr=subprocess.DEVNULL)
    peak = json.loads((run / "summary.json").read_text())["peak_memory_gb"] * 1e9
    print(f"{case:24} estimate {estimate / 1e6:6.0f} MB  peak {peak / 1e6:6.0f} MB  {estimate / peak:.2f}", flush=True)
    return 0.9 <= estimate / peak <= 1.3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trainer")
    parser.add_argument("demo", type=pathlib.Path)
    parser.add_argument("case", nargs="*", default=CASES)
    parser.add_argument("--steps", type=int, default=20)
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        within = [measure(options.trainer, options.demo, pathlib.Path(folder), case, options.steps) for case in options.case]
    sys.exit(0 if all(within) else 1)


if __name__ == "__main__":
    main()
