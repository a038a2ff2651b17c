#!/usr/bin/env python3
"""Compares forward and backward of two Qwen3 models with transformers: same weights, same batches, rounds in turn, each in
its own process (for its peak memory). bench/model_vs_transformers.sh runs it and creates the environment.

  small   4 layers, hidden 192, vocabulary 8,256
  slice   2 layers of a hidden-1,024 model with the full vocabulary of 151,936, tied

Batches: 400 conversations of the real chat corpus, Qwen2's tokens, cut to 1,024, sorted by length, and combined until rows
x longest would exceed 4,096 tokens; every n-th of these batches is used. The assistant's turns are supervised. Ids of the
small model are taken modulo its vocabulary.
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRAINER = ROOT / "build/release/odb-trainer"
MODELS = {
    "small": dict(vocab_size=8256, hidden_size=192, intermediate_size=512, num_hidden_layers=4, num_attention_heads=6,
                  num_key_value_heads=2, head_dim=32, tie_word_embeddings=True),
    "slice": dict(vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=2,
                  num_attention_heads=16, num_key_value_heads=8, head_dim=128, tie_word_embeddings=True),
}
PADDED_TOKENS = 4096
CUTOFF = 1024


def make_model(name, folder):
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
    torch.manual_seed(0)
    config = AutoConfig.for_model("qwen3", rope_theta=1e6, max_position_embeddings=4096, **MODELS[name])
    AutoModelForCausalLM.from_config(config).float().save_pretrained(folder)


def make_batches(data, count):
    """Labels and ids come from the trainer's own data path, so that both sides train on the same tokens."""
    lines = (data / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    command = [TRAINER, "tokenize", "--samples", "--tokenizer", data / "qwen2", "--chat-template", "chatml",
               "--cutoff-len", str(CUTOFF)]
    made = subprocess.run([str(w) for w in command], input="\n".join(lines[:400]), text=True, stdout=subprocess.PIPE,
                          check=True).stdout
    samples = [s for s in map(json.loads, made.splitlines()) if "input_ids" in s]
    samples.sort(key=lambda sample: len(sample["input_ids"]))
    batches, rows = [], []
    for sample in samples:
        longest = max(len(row["input_ids"]) for row in [*rows, sample])
        if longest * (len(rows) + 1) > PADDED_TOKENS:
            batches.append(rows)
            rows = []
        rows.append(sample)
    chosen = [batches[(2 * i + 1) * len(batches) // (2 * count)] for i in range(count)]
    return [{"tokens": [r["input_ids"] for r in rows], "labels": [r["labels"] for r in rows]} for rows in chosen]


def reduce_ids(batches, vocabulary):
    fold = lambda rows: [[t if t < 0 else t % vocabulary for t in row] for row in rows]
    return [{"tokens": fold(b["tokens"]), "labels": fold(b["labels"])} for b in batches]


def run_theirs(folder, batches, dtype, threads):
    """In its own process: transformers, eager, SDPA, padded on the right with an attention mask."""
    import torch
    from transformers import AutoModelForCausalLM
    torch.set_num_threads(threads)
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="sdpa", dtype=torch.float32).train()
    padded = []
    for batch in json.loads(pathlib.Path(batches).read_text())["batches"]:
        longest = max(map(len, batch["tokens"]))
        pad = lambda rows, value: torch.tensor([row + [value] * (longest - len(row)) for row in rows])
        padded.append((pad(batch["tokens"], 0), pad([[1] * len(r) for r in batch["tokens"]], 0), pad(batch["labels"], -100)))

    def go_over():
        total, count = 0.0, 0
        for ids, mask, labels in padded:
            with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bf16"):
                loss = model(input_ids=ids, attention_mask=mask, labels=labels, num_items_in_batch=1, use_cache=False).loss
            loss.backward()
            total += loss.item()
            count += (labels[:, 1:] != -100).sum().item()
        return total / count

    loss = go_over()
    model.zero_grad()
    start = time.perf_counter()
    go_over()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"loss": loss, "seconds": [seconds], "peak_bytes": peak}))


def run_ours(folder, batches, dtype, threads, layout):
    command = [TRAINER, "bench", "model", "--model", folder, "--batches", batches, "--dtype", dtype, "--threads", threads,
               "--layout", layout, "--rounds", 1]
    return json.loads(subprocess.run([str(w) for w in command], stdout=subprocess.PIPE, check=True).stdout)


def one_theirs(folder, batches, dtype, threads):
    command = [sys.executable, __file__, "--theirs", folder, batches, dtype, str(threads)]
    out = subprocess.run([str(w) for w in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    return json.loads(out.splitlines()[-1])


def compare(name, work, data, options):
    folder, path = work / name, work / f"{name}.json"
    if not (folder / "model.safetensors").exists():
        make_model(name, folder)
    batches = make_batches(data, options.batches)
    if name == "small":
        batches = reduce_ids(batches, MODELS[name]["vocab_size"])
    path.write_text(json.dumps({"batches": batches}))
    real = sum(len(r) for b in batches for r in b["tokens"])
    computed = sum(len(b["tokens"]) * max(map(len, b["tokens"])) for b in batches)
    supervised = sum(t != -100 for b in batches for r in b["labels"] for t in r)
    print(f"{name}: {len(batches)} batches, {computed} tokens, {real} real, {supervised} supervised ({supervised / computed:.0%})")
    for dtype in options.dtype:
        runs = {"transformers": [], "padded": [], "flat": []}
        for _ in range(options.rounds):
            runs["transformers"].append(one_theirs(folder, path, dtype, options.threads))
            for layout in ["padded", "flat"]:
                runs[layout].append(run_ours(folder, path, dtype, options.threads, layout))
        theirs = statistics.median(r["seconds"][0] for r in runs["transformers"])
        their_peak = min(r["peak_bytes"] for r in runs["transformers"])
        for side, results in runs.items():
            seconds = statistics.median(r["seconds"][0] for r in results)
            peak = min(r["peak_bytes"] for r in results)
            print(f"  {dtype} {side:12} {computed / seconds:8.0f} padded tokens/s {theirs / seconds:5.2f}x   "
                  f"peak {peak / 1e9:6.2f} GB {peak / their_peak:5.2f}x   loss {results[0]['loss']:.5f}", flush=True)


def loading(work):
    """2 GB of fp32 weights, from the page cache."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
    folder = work / "two_gigabytes"
    if not (folder / "config.json").exists():
        config = AutoConfig.for_model("qwen3", **{**MODELS["slice"], "num_hidden_layers": 22})
        with torch.no_grad():
            AutoModelForCausalLM.from_config(config).float().save_pretrained(folder, max_shard_size="5GB")
    size = sum(f.stat().st_size for f in folder.glob("*.safetensors"))
    for f in folder.glob("*.safetensors"):
        f.read_bytes()
    best = None
    for _ in range(5):
        run = json.loads(subprocess.run([str(TRAINER), "bench", "model", "--model", str(folder)], stdout=subprocess.PIPE,
                                        check=True).stdout)
        best = run if best is None or run["load_seconds"] < best["load_seconds"] else best
    extra = best["load_peak_bytes"] - size
    print(f"loading {size / 1e9:.2f} GB: {size / best['load_seconds'] / 1e9:.2f} GB/s, "
          f"peak memory beyond the weights {extra / 1e6:.0f} MB ({extra / size:.1%})")


def main():
    if sys.argv[1:2] == ["--theirs"]:
        run_theirs(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--batches", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtype", nargs="+", choices=["fp32", "bf16"], default=["fp32", "bf16"])
    parser.add_argument("--only", choices=["small", "slice", "loading"])
    options = parser.parse_args()
    work, data = ROOT / ".cache/bench-model", ROOT / ".cache/test-data"
    work.mkdir(parents=True, exist_ok=True)
    for name in MODELS:
        if options.only in (None, name):
            compare(name, work, data, options)
    if options.only in (None, "loading"):
        loading(work)


if __name__ == "__main__":
    main()
