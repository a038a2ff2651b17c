#!/usr/bin/env python3
"""Writes case_losses.json: the results of transformers on chat cases (tests/cases), with the model and tokenizer of the cases there.

    .cache/transformers/bin/python tests/golden/training/make_case_losses.py

The environment is that of scripts/transformers_venv.sh. Rows are rendered as plain ChatML by make_cases.py, one by one, float32 on
the CPU. Of each file: the rows with an answer, their supervised tokens, and the mean loss of one of these.
"""
import json
import sys
from pathlib import Path

import tokenizers
import torch
import transformers

HERE = Path(__file__).resolve().parent
CASES = HERE.parent.parent / "cases"
sys.path.insert(0, str(CASES))
from make_cases import plain_chatml  # noqa: E402

# File, and the tokens that are left of a row.
FILES = {"chat/every_second_row_unlabelled.jsonl": 8192, "chat/multi_turn.jsonl": 8192, "chat/token_weighting.jsonl": 8192,
         "chat/truncated_answer.jsonl": 64, "chat/typed_control_tokens.jsonl": 8192, "raw/lone_surrogates.jsonl": 8192,
         "raw/plain.jsonl": 8192, "raw/unicode_separators.jsonl": 8192}


def messages_of(line):
    talk = json.loads(line)["messages"]
    for message in talk:  # half of a surrogate pair becomes U+FFFD
        message["content"] = "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in message["content"])
    return talk


def losses(model, tokenizer, path, cutoff):
    rows, supervised, total = 0, 0, 0.0
    for line in path.read_bytes().decode().split("\n"):
        if not line.strip():
            continue
        ids, labels = (torch.tensor([part[:cutoff]]) for part in plain_chatml(tokenizer, messages_of(line)))
        count = int((labels[:, 1:] != -100).sum())
        if count == 0:
            continue
        with torch.no_grad():
            total += model(ids, labels=labels, num_items_in_batch=1).loss.item()
        rows, supervised = rows + 1, supervised + count
    return {"cutoff_len": cutoff, "samples": rows, "supervised_tokens": supervised, "loss": round(total / supervised, 6)}


def main():
    torch.set_num_threads(1)
    tokenizer = tokenizers.Tokenizer.from_file(str(CASES / "tokenizer/merges_pairs/tokenizer.json"))
    model = transformers.AutoModelForCausalLM.from_pretrained(CASES / "models/base", dtype=torch.float32).eval()
    found = {name: losses(model, tokenizer, CASES / name, cutoff) for name, cutoff in FILES.items()}
    made = {"made_with": f"transformers {transformers.__version__}, tokenizers {tokenizers.__version__}", "files": found}
    (HERE / "case_losses.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
