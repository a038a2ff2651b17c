#!/usr/bin/env python3
"""Writes the golden files next to it: families.json (small tokenizers of several families) and golden.json (their ids).

Truth is Hugging Face tokenizers, pinned below; its version is also written into golden.json. To run it again:

  python3 -m venv VENV && VENV/bin/pip install tokenizers==0.22.2
  VENV/bin/python tests/tokenizer/golden/make_golden.py
"""
import json
import pathlib
import random
import sys

import tokenizers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from texts import TEXTS

HERE = pathlib.Path(__file__).parent
WANTED = "0.22.2"
SEED = 20251129

QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3 = QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT4O = "|".join([
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def split(pattern, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def byte_level(prefix=False, regex=False):
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def chain(*steps):
    return {"type": "Sequence", "pretokenizers": list(steps)}


def added(first_id, *tokens):
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    return [{"id": first_id + i, "content": content, **plain, **flags} for i, (content, flags) in enumerate(tokens)]


def bos_template(name, number):
    return {"type": "Sequence", "processors": [
        byte_level(), {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": name, "type_id": 0}},
                                                                 {"Sequence": {"id": "A", "type_id": 0}}],
                       "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                       "special_tokens": {name: {"id": name, "ids": [number], "tokens": [name]}}}]}


def families(size, letter):
    special, nfc = {"special": True}, {"type": "NFC"}
    chat = added(size, ("<|endoftext|>", special), ("<|im_start|>", special), ("<|im_end|>", special), ("<think>", {}),
                 ("</think>", {}))
    llama = added(size, ("<|begin_of_text|>", special), ("<|eot_id|>", special))
    flags = added(size, ("<img>", {}), ("<img>tail", {}), ("<trim>", {"lstrip": True, "rstrip": True}),
                  ("<word>", {"single_word": True}), ("<norm\u00e9>", {"normalized": True}),
                  ("<ctl>", {"special": True, "normalized": True}), ("<ctl><img>", special),
                  ("<left>", {"lstrip": True, "special": True}), ("<right>", {"rstrip": True}), ("a <", {}))
    # \u00e9 as a whole character; the vocabulary has its letter already, for the byte 0xE9.
    flags.append({**flags[0], "content": "\u00e9", "id": letter})
    return {
        "qwen2": {"normalizer": nfc, "pre_tokenizer": chain(split(QWEN2), byte_level()), "added_tokens": chat},
        "llama3": {"pre_tokenizer": chain(split(LLAMA3), byte_level()), "added_tokens": llama, "ignore_merges": True,
                   "post_processor": bos_template("<|begin_of_text|>", size)},
        "gpt2": {"pre_tokenizer": byte_level(regex=True),
                 "added_tokens": added(size, ("<|endoftext|>", {"special": True, "normalized": True}))},
        "gpt2_prefix": {"pre_tokenizer": byte_level(prefix=True, regex=True), "added_tokens": chat},
        "qwen3.5": {"normalizer": {"type": "Sequence", "normalizers": [nfc]},
                    "pre_tokenizer": chain(split(QWEN35), byte_level()), "added_tokens": chat},
        "gpt4o": {"pre_tokenizer": chain(split(GPT4O), byte_level()), "added_tokens": chat},
        "deepseek": {"pre_tokenizer": chain(split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK), byte_level()),
                     "added_tokens": chat},
        "starcoder": {"pre_tokenizer": chain({"type": "Digits", "individual_digits": True}, byte_level(regex=True)),
                      "added_tokens": chat},
        "digit_runs_prefix": {"pre_tokenizer": chain({"type": "Digits", "individual_digits": False},
                                                     byte_level(prefix=True)), "added_tokens": []},
        "removed": {"pre_tokenizer": chain(split(r"\s+", "Removed"), byte_level()), "added_tokens": chat},
        "kept_only": {"pre_tokenizer": chain(split(r"\w+|[^\w\s]+", "Removed", True), byte_level()), "added_tokens": chat},
        "previous": {"pre_tokenizer": chain(split("-", "MergedWithPrevious", False, "String"), byte_level()),
                     "added_tokens": chat},
        "next": {"pre_tokenizer": chain(split(" ", "MergedWithNext", False, "String"), byte_level()), "added_tokens": chat},
        "contiguous": {"pre_tokenizer": chain(split(r"[^\p{L}]", "Contiguous"), byte_level()), "added_tokens": chat},
        "empty_matches": {"pre_tokenizer": chain(split(r"\d*", "Isolated"), split(r"x?", "MergedWithNext"), byte_level()),
                          "added_tokens": chat},
        "lines": {"pre_tokenizer": chain(split(r"^.+$", "Isolated"), byte_level()), "added_tokens": chat},
        "flags": {"normalizer": nfc, "pre_tokenizer": chain(split(QWEN2), byte_level()), "added_tokens": flags},
    }


def base_model():
    trainer = trainers.BpeTrainer(vocab_size=1400, initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
                                  show_progress=False)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(TEXTS, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    model["vocab"] = dict(sorted(model["vocab"].items(), key=lambda item: item[1]))
    return model


def tokenizer_file(model, family):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": family["added_tokens"],
            "normalizer": family.get("normalizer"), "pre_tokenizer": family["pre_tokenizer"],
            "post_processor": family.get("post_processor"), "decoder": byte_level(True, True),
            "model": {**model, "ignore_merges": family.get("ignore_merges", False)}}


def random_texts(count):
    """Mixes of the parts of the written texts, for borders that nobody thinks of."""
    dice = random.Random(SEED)
    letters = sorted(set("".join(TEXTS)))
    odd = ["'s", "'LL", "'\u017f", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u0085", "\u200b", "\u180e", "e\u0301",
           "\u0323\u0307", "123", "\u0665", "\u2167", "<think>", "<|im_end|>", "<trim>", " <word>", "<ctl>", "<left>",
           "<norm\u0065\u0301>", "a <img>", "\U0001e4ec", "\u0378", "\ua7cb", "\U00031350"]
    return ["".join(dice.choice(odd if dice.random() < 0.4 else letters) for _ in range(dice.randint(1, 24)))
            for _ in range(count)]


def main():
    if tokenizers.__version__ != WANTED:
        sys.exit(f"this needs tokenizers {WANTED}, found {tokenizers.__version__}")
    model = base_model()
    described = families(len(model["vocab"]), model["vocab"]["\u00e9"])
    texts = TEXTS + random_texts(150)
    results = {}
    for name, family in described.items():
        tokenizer = Tokenizer.from_str(json.dumps(tokenizer_file(model, family)))
        found = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        framed = tokenizer.encode(texts[0]).ids
        decoded = [tokenizer.decode(ids, skip_special_tokens=True) for ids in found]
        tokenizer.encode_special_tokens = True
        plain = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        results[name] = {"ids": plain, "framed_length": len(framed),
                         "ids_with_control": {str(i): a for i, (a, b) in enumerate(zip(found, plain)) if a != b},
                         "decoded_unlike_text": {str(i): d for i, (t, d) in enumerate(zip(texts, decoded)) if d != t}}
    dump = lambda value: json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    rows = ",\n".join(f"{dump(name)}:{dump(family)}" for name, family in described.items())
    (HERE / "families.json").write_text(f'{{"model":{dump(model)},\n"families":{{\n{rows}\n}}}}\n')
    rows = ",\n".join(f"{dump(name)}:{dump(result)}" for name, result in results.items())
    (HERE / "golden.json").write_text(
        f'{{"made_with":"tokenizers {WANTED}","seed":{SEED},\n"texts":{dump(texts)},\n"families":{{\n{rows}\n}}}}\n')


main()
