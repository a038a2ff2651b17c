"""The measurements of loader_vs_reference.sh: tokens per second without padding, padding, how full batches are (positions /
L_max). Time is measured from the start of an epoch, including workers, to its last batch. The reference runs one epoch,
which takes many seconds; ours runs five, which take about one, so that forking the processes has no more weight there.

The reference gets its records parsed and in memory: as conversations, which its workers render and encode, or as lists of
ids, which they turn into tensors. Ours reads JSON text from the file in both cases.
"""
import json
import os
import statistics
import subprocess
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
import odb
import tokenizers
import torch

DATA = ".cache/test-data"
FOLDER = f"{DATA}/qwen2"
L_MAX = 8192
IGNORED = -100


class Conversations(torch.utils.data.Dataset):
    """ChatML; the answers are supervised."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.conversations = [json.loads(line)["messages"] for line in file]
        self.tokenizer = tokenizers.Tokenizer.from_file(f"{FOLDER}/tokenizer.json")
        self.begin, self.end = (self.tokenizer.token_to_id(text) for text in ("<|im_start|>", "<|im_end|>"))
        self.newline = self.tokenizer.encode("\n", add_special_tokens=False).ids

    def __len__(self):
        return len(self.conversations)

    def __getitem__(self, index):
        ids, labels = [], []
        for message in self.conversations[index]:
            head = [self.begin] + self.tokenizer.encode(message["role"] + "\n", add_special_tokens=False).ids
            body = self.tokenizer.encode(message["content"], add_special_tokens=False).ids + [self.end]
            trained = message["role"] == "assistant"
            ids += head + body + self.newline
            labels += [IGNORED] * len(head) + (body if trained else [IGNORED] * len(body)) + [IGNORED] * len(self.newline)
        return as_tensors(ids[:L_MAX], labels[:L_MAX])


class Ids(torch.utils.data.Dataset):
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.records = [json.loads(line) for line in file]

    def __len__(self):
        return len(self.records)

    def __getitem__(self, index):
        record = self.records[index]
        return as_tensors(record["input_ids"][:L_MAX], record["labels"][:L_MAX])


def as_tensors(ids, labels):
    return {"input_ids": torch.tensor(ids), "labels": torch.tensor(labels), "attention_mask": torch.ones(len(ids), dtype=torch.long)}


def collate(samples):
    fills = {"input_ids": 0, "labels": IGNORED, "attention_mask": 0}
    return {key: torch.nn.utils.rnn.pad_sequence([sample[key].reshape(-1) for sample in samples], batch_first=True,
                                                 padding_value=fill) for key, fill in fills.items()}


def reference(dataset, workers):
    loader = odb.ODBDataLoader(dataset, token_budget=L_MAX, batch_size=1, shuffle=True, num_workers=workers,
                               prefetch_factor=64, collate_fn=collate, join=True)
    tokens = positions = groups = samples = 0
    begin = time.perf_counter()
    for batch in loader:
        odb.pop_step_info(batch)
        tokens += int(batch["attention_mask"].sum())
        positions += batch["input_ids"].numel()
        samples += batch["input_ids"].shape[0]
        groups += 1
    seconds = time.perf_counter() - begin
    assert samples == len(dataset), f"{samples} of {len(dataset)} samples arrived"
    return {"tokens_per_second": tokens / seconds, "padding_fraction": 1 - tokens / positions,
            "budget_fill": positions / groups / L_MAX, "tokens": tokens}


def ours(path, workers):
    command = ["build/release/odb-trainer", "bench", "loader", "--data", path, "--tokenizer", FOLDER, "--layout", "padded",
               "--l-max", str(L_MAX), "--data-workers", str(workers), "--epochs", "5", "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    report["peak_private"] = {role: max((process["private_bytes"] for process in report["processes"]
                                         if process["role"].startswith(role)), default=0) for role in ("worker", "collate")}
    return report


def main(rounds, ids_path):
    inputs = {"conversations": (f"{DATA}/corpus.jsonl", Conversations), "token ids": (ids_path, Ids)}
    for name, (path, make) in inputs.items():
        dataset = make(path)
        for workers in (1, 2):
            found = {"ours": [], "reference": []}
            for _ in range(rounds):
                found["ours"].append(ours(path, workers))
                found["reference"].append(reference(dataset, workers))
            rates = {}
            for side, measured in found.items():
                rates[side] = statistics.median(one["tokens_per_second"] for one in measured)
                last = measured[-1]
                print(f"{name}, {workers} worker{'s'[:workers - 1]}, {side:9}: {rates[side] / 1e6:7.2f} M tokens/s, "
                      f"padding {100 * last['padding_fraction']:4.1f} %, budget fill {last['budget_fill']:.2f}, "
                      f"{last['tokens']} tokens")
            last = found["ours"][-1]
            print(f"{name}, {workers} worker{'s'[:workers - 1]}: {rates['ours'] / rates['reference']:.0f} times the reference; "
                  f"first batch after {statistics.median(one['first_batch_seconds'] for one in found['ours']):.2f} s, private "
                  f"{last['peak_private']['worker'] / 2**20:.1f} MiB a worker, {last['peak_private']['collate'] / 2**20:.1f} MiB collate",
                  flush=True)


main(int(sys.argv[1]), sys.argv[2])
