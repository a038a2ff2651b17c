"""The measurements of tokenizer_vs_others.sh; every number in MB (10^6 bytes) of text per second.

cold: a new tokenizer's first pass over all texts; warm: the pass after it. Ours and tokenizers get one text after another.
The best round is the one that other work on the machine disturbed least. gigatoken is measured in three ways, because which
one is fastest depends: texts as a batch, all texts as one file (read by itself), and all texts as one string.
"""
import json
import os
import statistics
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
import gigatoken
import tokenizers

DATA = ".cache/test-data"
FOLDER = f"{DATA}/qwen2"


def rate(size, action):
    begin = time.perf_counter()
    action()
    return size / (time.perf_counter() - begin) / 1e6


def ours():
    command = ["build/release/odb-trainer", "bench", "tokenizer", "--tokenizer", FOLDER, "--data",
               f"{DATA}/corpus.texts.jsonl", "--rounds", "1", "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    yield "odb-trainer", report["bytes_per_second_cold"] / 1e6, report["bytes_per_second_warm"] / 1e6
    yield "odb-trainer, load", report["load_seconds"] * 1e3, report["private_memory_bytes"] / 1e6


def reference(texts, size):
    begin = time.perf_counter()
    tokenizer = tokenizers.Tokenizer.from_file(f"{FOLDER}/tokenizer.json")
    load = (time.perf_counter() - begin) * 1e3
    tokenizer.encode_special_tokens = True

    def all_texts():
        for text in texts:
            tokenizer.encode(text, add_special_tokens=False)

    yield "tokenizers", rate(size, all_texts), rate(size, all_texts)
    yield "tokenizers, load", load, None


def other(texts, size):
    as_bytes = [text.encode() for text in texts]
    whole = "\n".join(texts).encode()
    path = f"{DATA}/corpus.txt"
    with open(path, "wb") as file:
        file.write(whole)
    ways = {"batch": (size, lambda t: t.encode_batch(as_bytes, parallel=False)),
            "file": (len(whole), lambda t: t.encode_files(path, parallel=False)),
            "string": (len(whole), lambda t: t.encode(whole))}
    for name, (length, action) in ways.items():
        tokenizer = gigatoken.Tokenizer(f"{FOLDER}/tokenizer.json")
        yield f"gigatoken, {name}", rate(length, lambda: action(tokenizer)), rate(length, lambda: action(tokenizer))


def main(rounds):
    with open(f"{DATA}/corpus.texts.jsonl", encoding="utf-8") as file:
        texts = [json.loads(line) for line in file]
    size = sum(len(text.encode()) for text in texts)
    found = {}
    for _ in range(rounds):
        for measured in (ours(), other(texts, size), reference(texts, size)):
            for name, cold, warm in measured:
                found.setdefault(name, []).append((cold, warm))
    print(f"{len(texts)} texts, {size} bytes; {rounds} rounds, median (best)")
    for name, pairs in found.items():
        if name.endswith("load"):
            load, memory = (statistics.median(side) if side[0] is not None else None for side in zip(*pairs))
            print(f"{name:20} {load:6.0f} ms" + (f", {memory:.1f} MB private" if memory is not None else ""))
        else:
            cold, warm = (f"{statistics.median(side):6.1f} ({max(side):6.1f}) MB/s" for side in zip(*pairs))
            print(f"{name:20} {cold} cold {warm} warm")


main(int(sys.argv[1]))
