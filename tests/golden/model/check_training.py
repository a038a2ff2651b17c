#!/usr/bin/env python3
"""Checks the results of `odb-trainer train` in transformers: the checkpoint and its export load whole, and give the loss that
the run itself reported on its evaluation data.

    .cache/transformers/bin/python tests/golden/model/check_training.py build/release/odb-trainer

The environment is that of scripts/transformers_venv.sh.
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM

CASES = Path(__file__).resolve().parent.parent.parent / "cases"
TOKENIZER = ["--tokenizer", CASES / "tokenizer/merges_pairs", "--chat-template", "chatml", "--cutoff-len", "128"]
MOST_APART = 1e-4


def write_talks(path, count, seed):
    draw = random.Random(seed)
    say = lambda role: {"role": role, "content": " ".join(draw.choices(["a", "bb", "cab", "dad"], k=draw.randint(1, 9)))}
    lines = [json.dumps({"messages": [say("user"), say("assistant")] * draw.randint(1, 2)}) for _ in range(count)]
    path.write_text("\n".join(lines) + "\n")


def call(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, text=True, **options)


def loss_in_transformers(folder, samples):
    model, loading = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    assert not any(loading.values()), f"{folder}: {loading}"
    total, count = 0.0, 0
    with torch.no_grad():
        for sample in samples:
            labels = torch.tensor([sample["labels"]])
            total += model(torch.tensor([sample["input_ids"]]), labels=labels, num_items_in_batch=1).loss.item()
            count += int((labels[:, 1:] != -100).sum())
    return total / count, count


def main():
    trainer = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_talks(folder / "train.jsonl", 80, seed=1)
        write_talks(folder / "eval.jsonl", 30, seed=2)
        call(trainer, "launch", "--nproc", 2, "--", "train", "--model", CASES / "models/base", *TOKENIZER, "--data",
             folder / "train.jsonl", "--eval-data", folder / "eval.jsonl", "--eval-at-start", "on", "--l-max", 256, "--lr", 0.01,
             "--device", "cpu", "--threads", 1, "--console", "off", "--output", folder / "run")
        before, after = (json.loads(line) for line in (folder / "run/evaluations.jsonl").read_text().splitlines())
        assert after["loss"] < before["loss"] - 0.5, f"nothing was learned: {before['loss']} to {after['loss']}"
        [checkpoint] = (folder / "run/checkpoints").iterdir()
        call(trainer, "export", checkpoint, folder / "exported", stdout=subprocess.DEVNULL)
        made = call(trainer, "tokenize", "--samples", *TOKENIZER, input=(folder / "eval.jsonl").read_text(),
                    stdout=subprocess.PIPE).stdout
        samples = [json.loads(line) for line in made.splitlines()]
        for model, ours in ((CASES / "models/base", before), (checkpoint, after), (folder / "exported", after)):
            theirs, count = loss_in_transformers(model, samples)
            print(f"{model.name}: {theirs:.6f} in transformers, {ours['loss']:.6f} in the run, {count} tokens")
            assert count == ours["supervised_tokens"], f"{count} supervised tokens, the run has {ours['supervised_tokens']}"
            assert abs(theirs - ours["loss"]) < MOST_APART, f"{model.name}: the losses differ"


if __name__ == "__main__":
    main()
