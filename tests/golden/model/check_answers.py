#!/usr/bin/env python3
"""Checks that transformers answers as a trained model was taught, from the files of the output alone.

  - A base model (its eos_token_id is <|endoftext|>) that learns three conversations in ChatML: the checkpoint and its
    export name <|im_end|>, have the chat template, and the answers stop there; odb-trainer generate prints the same.
  - Every chat template: apply_chat_template of the checkpoint's tokenizer gives the ids of our samples.

    .cache/transformers/bin/python tests/golden/model/check_answers.py build/release/odb-trainer

The environment is that of scripts/transformers_venv.sh.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

TESTS = Path(__file__).resolve().parent.parent.parent
CASE = TESTS / "cases/use/base_model_eos"
CHAT = TESTS / "golden/chat"
COMMON = ["--device", "cpu", "--threads", 1, "--console", "off", "--data-workers", 1]


def call(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def lines(path):
    return [json.loads(line) for line in path.read_text().split("\n") if line]


def our_ids(trainer, folder, name, text):
    """What training makes of the conversations, one a line."""
    made = call(trainer, "tokenize", "--samples", "--tokenizer", folder, "--chat-template", name, input=text)
    return [json.loads(line)["input_ids"] for line in made.splitlines()]


def expect(found, expected, what):
    assert found == expected, f"{what}: found {found!r}, expected {expected!r}"


def answer_in_transformers(folder, question):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": question}], add_generation_prompt=True,
                                           return_tensors="pt")
    return tokenizer, model.generate(prompt, max_new_tokens=40, do_sample=False)[0][prompt.shape[1]:].tolist()


def check_base_model(trainer, folder):
    call(trainer, "train", "--model", CASE / "model", "--init", "random", "--data", CASE / "talks.jsonl", "--max-steps", 60,
         "--lr", "1e-2", "--warmup", 0, "--lr-schedule", "constant", *COMMON, "--output", folder / "run")
    checkpoint = folder / "run/checkpoints/step-00000060"
    exported = folder / "exported"
    call(trainer, "export", checkpoint, exported)
    for model in (checkpoint, exported):
        for name in ("config.json", "generation_config.json"):
            expect(json.loads((model / name).read_text())["eos_token_id"], [1002, 1000], f"{model.name}/{name}: eos_token_id")
        for number in range(3):
            question = f"question number {number}?"
            tokenizer, ids = answer_in_transformers(model, question)
            expect(tokenizer.eos_token, "<|im_end|>", "eos_token")
            expect(tokenizer.decode(ids), f"answer number {number}.<|im_end|>", question)
            ours = call(trainer, "generate", "--model", model, "--prompt", question)
            expect(ours, f"answer number {number}.\n", f"generate, {question}")
    talks = (CASE / "talks.jsonl").read_text()
    expect([tokenizer.apply_chat_template(json.loads(line)["messages"]) for line in talks.splitlines()],
           our_ids(trainer, exported, "auto", talks), "ids of the training data")


def with_objects(messages):
    """Arguments of calls that are texts: these templates print them as objects."""
    for message in messages:
        for tool_call in message.get("tool_calls") or []:
            if isinstance(tool_call["function"]["arguments"], str):
                tool_call["function"]["arguments"] = json.loads(tool_call["function"]["arguments"])
    return messages


def check_template(trainer, folder, name):
    data = folder / f"{name}.jsonl"
    data.write_text(json.dumps({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}) + "\n")
    call(trainer, "train", "--model", TESTS / "cases/models/base", "--tokenizer", CHAT / "tokenizer", "--chat-template", name,
         "--data", data, "--max-steps", 1, *COMMON, "--output", folder / name)
    tokenizer = AutoTokenizer.from_pretrained(folder / name / "checkpoints/step-00000001")
    talks = {talk["name"]: talk for talk in lines(CHAT / "talks.jsonl")}
    golden = CHAT / f"{name}.expected.jsonl"
    if golden.exists():
        expected = {row["talk"]: row["input_ids"] for row in lines(golden)[1:]}
    else:
        names = [talk for talk in talks if name == "chatml" or
                 not (talks[talk].get("tools") or any("tool" in json.dumps(m) for m in talks[talk]["messages"]))]
        text = "".join(json.dumps(talks[talk]) + "\n" for talk in names)
        made = [json.loads(line) for line in call(trainer, "tokenize", "--samples", "--train-on", "all", "--tokenizer",
                                                  CHAT / "tokenizer", "--chat-template", name, input=text).splitlines()]
        expected = {talk: row["input_ids"] for talk, row in zip(names, made, strict=True)}
    for talk, ids in expected.items():
        messages = talks[talk]["messages"]
        if name in ("qwen2.5", "llama3.1", "chatml"):
            messages = with_objects(messages)
        expect(tokenizer.apply_chat_template(messages, tools=talks[talk].get("tools")), ids, f"{name}: {talk}")
    print(f"{name}: {len(expected)} conversations have equal ids")


def main():
    trainer = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        check_base_model(trainer, Path(name))
        for template in ("qwen3", "qwen3-instruct", "qwen2.5", "chatml", "llama3", "llama3.1", "plain"):
            check_template(trainer, Path(name), template)


if __name__ == "__main__":
    main()
