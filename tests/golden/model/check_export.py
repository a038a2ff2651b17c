#!/usr/bin/env python3
"""Checks `odb-trainer export` against transformers: its output loads there, and nothing has changed.

    .cache/model-golden/bin/python tests/golden/model/check_export.py build/release/odb-trainer

The environment is that of make_model_golden.py. For every golden model and whole case model, in one file and in shards:
equal bytes of every tensor, equal logits in transformers, and 32 greedily generated tokens equal.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors import safe_open
from transformers import AutoModelForCausalLM

HERE = Path(__file__).resolve().parent
CASES = HERE.parent.parent / "cases/models"
MODELS = [HERE / name for name in ("qwen3_tied", "qwen3_untied", "qwen2", "llama3", "llama_biases")]
MODELS += [CASES / name for name in ("base", "sharded", "tied_no_head")]


def tensors(folder):
    result = {}
    for path in folder.glob("*.safetensors"):
        if path.name == "answers.safetensors":
            continue
        with safe_open(path, framework="pt") as file:
            result.update({name: file.get_tensor(name) for name in file.keys()})
    return result


def same_bytes(a, b):
    return a.keys() == b.keys() and all(a[name].dtype == b[name].dtype and torch.equal(
        a[name].view(torch.uint8), b[name].view(torch.uint8)) for name in a)


def answer(folder):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa").eval()
    prompt = torch.arange(2, 9)[None]
    generated = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=32,
                               pad_token_id=0)
    with torch.no_grad():
        return model(prompt).logits, generated


def main():
    trainer = sys.argv[1]
    for source in MODELS:
        for words in ([], ["--max-shard-size", "20kB"]):
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "out"
                subprocess.run([trainer, "export", str(source), str(out), *words], check=True, stdout=subprocess.DEVNULL)
                assert same_bytes(tensors(source), tensors(out)), f"{source}: tensors differ"
                for before, after in zip(answer(source), answer(out)):
                    assert torch.equal(before, after), f"{source}: transformers computes something else"
                print(f"{source.name} {' '.join(words)}: equal")


if __name__ == "__main__":
    main()
