#!/usr/bin/env python3
"""Writes the golden files of tests/golden/chat: the results of transformers on the conversations in talks.jsonl.

The chat templates are the model families' own Jinja texts. They are not part of this repository: they
come from the wheel of trl, which contains verbatim copies, in the version pinned below.

    python3 -m venv .cache/chat-golden
    .cache/chat-golden/bin/pip install transformers==4.57.6 tokenizers==0.22.2 jinja2==3.1.6 xxhash==4.1.0
    .cache/chat-golden/bin/pip download --no-deps --dest .cache/chat-golden trl==1.16.0
    .cache/chat-golden/bin/python tests/golden/make_chat_golden.py .cache/chat-golden/trl-1.16.0-py3-none-any.whl

--hashes prints the normalized hashes of the templates (lib/data/templates/template_choice.cc) instead.

Labels are computed independently of the code under test: answers are found in the rendered text by their
header (no conversation holds a control token in a content), and a token is supervised if it holds at least
one character of an answer.
"""
import hashlib
import json
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WHEEL_SHA256 = "c4726e139dd40e1a41661511c639c8a68416782b2e3e8c0befebd77bb7ba0396"
# name here -> name in the wheel
TEMPLATES = {"qwen3": "qwen3", "qwen3-instruct": "qwen3_instruct_2507", "qwen2.5": "qwen2_5",
             "llama3": "llama3", "llama3.1": "llama3_1"}
HASHED = dict(TEMPLATES, **{"llama3.1 (3.2)": "llama3_2"})
# Their templates quote arguments that come as text a second time.
WANTS_OBJECTS = ("qwen2.5", "llama3.1")
LLAMA_TOKENS = ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]


def read_templates(wheel):
    data = Path(wheel).read_bytes()
    if hashlib.sha256(data).hexdigest() != WHEEL_SHA256:
        sys.exit(f"{wheel}: is not the pinned wheel (sha256 {WHEEL_SHA256})")
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(f"trl/chat_templates/{file}.jinja").decode()
                for name, file in HASHED.items()}


def normalized_hash(text):
    import xxhash
    return xxhash.xxh3_128_hexdigest(text.replace("\r\n", "\n").strip(" \t\r\n").encode())


def make_tokenizer():
    """The test tokenizer of the cases, with Llama 3's control tokens added."""
    from tokenizers import AddedToken, Tokenizer
    from transformers import PreTrainedTokenizerFast
    base = HERE.parent / "cases/tokenizer/merges_pairs/tokenizer.json"
    tokenizer = Tokenizer.from_file(str(base))
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in LLAMA_TOKENS])
    folder = HERE / "chat/tokenizer"
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"bos_token": "<|begin_of_text|>", "eos_token": "<|endoftext|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config) + "\n")
    return PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **config)


def objects(messages):
    messages = json.loads(json.dumps(messages))
    for message in messages:
        for call in message.get("tool_calls") or []:
            if isinstance(call["function"]["arguments"], str):
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return messages


def answers(text, template):
    if template.startswith("llama"):
        head, tail = "<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"
    else:
        head, tail = "<|im_start|>assistant\n", "<|im_end|>"
    at = 0
    while (at := text.find(head, at)) >= 0:
        begin = at + len(head)
        at = text.index(tail, begin) + len(tail)
        yield begin, at


def expect(tokenizer, name, template, talk):
    messages = objects(talk["messages"]) if name in WANTS_OBJECTS else talk["messages"]
    arguments = dict(tools=talk.get("tools"), chat_template=template)
    text = tokenizer.apply_chat_template(messages, tokenize=False, **arguments)
    encoding = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids = encoding["input_ids"]
    assert ids == tokenizer.apply_chat_template(messages, tokenize=True, **arguments)
    spans = list(answers(text, name))
    supervised = [i for i, (begin, end) in enumerate(encoding["offset_mapping"])
                  if any(begin < stop and start < end for start, stop in spans)]
    return {"talk": talk["name"], "text": text, "input_ids": ids, "supervised": runs(supervised)}


def runs(numbers):
    """[3, 4, 5, 9] -> [[3, 6], [9, 10]]"""
    result = []
    for number in numbers:
        if result and result[-1][1] == number:
            result[-1][1] += 1
        else:
            result.append([number, number + 1])
    return result


def main():
    templates = read_templates(sys.argv[1])
    if "--hashes" in sys.argv:
        for name, text in templates.items():
            print(normalized_hash(text), name)
        return
    import jinja2
    import tokenizers
    import transformers
    versions = {"transformers": transformers.__version__, "tokenizers": tokenizers.__version__,
                "jinja2": jinja2.__version__, "trl": "1.16.0"}
    tokenizer = make_tokenizer()
    talks = [json.loads(line) for line in (HERE / "chat/talks.jsonl").read_text().split("\n") if line]
    for name in TEMPLATES:
        rows = [expect(tokenizer, name, templates[name], talk)
                for talk in talks if name not in talk.get("not_for", [])]
        with open(HERE / f"chat/{name}.expected.jsonl", "w") as file:
            file.write(json.dumps({"made_by": "tests/golden/make_chat_golden.py", **versions,
                                   "template_hash": normalized_hash(templates[name])}) + "\n")
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
