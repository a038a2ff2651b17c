#!/usr/bin/env python3
"""Answers a prompt with transformers, from the files of a model folder alone, and compares the answer with ours.

    .cache/transformers/bin/python scripts/answer_in_transformers.py MODEL MAX_NEW_TOKENS PROMPT OUR_ANSWER

Fails if the answers differ, or if the folder names no token that ends one.
"""
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main():
    folder, most, question, ours = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": question}], add_generation_prompt=True,
                                           return_tensors="pt")
    with torch.no_grad():
        ids = model.generate(prompt, max_new_tokens=most, do_sample=False)[0][prompt.shape[1]:].tolist()
    theirs = tokenizer.decode(ids, skip_special_tokens=True)
    ends = model.generation_config.eos_token_id
    ends = ends if isinstance(ends, list) else [ends]
    if tokenizer.eos_token_id not in ends:
        sys.exit(f"{folder}: found the end tokens {ends}, expected {tokenizer.eos_token_id} ({tokenizer.eos_token}) among them")
    # The shell drops line feeds at the end.
    if theirs.rstrip("\n") != ours:
        sys.exit(f"{folder}: transformers answers {theirs!r}, odb-trainer {ours!r}")
    stop = f"it ends with {tokenizer.decode(ids[-1:])}" if ids[-1] in ends else f"it is cut after {most} tokens"
    print(f"  equal; {stop}")


main()
