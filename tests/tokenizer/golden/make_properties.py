#!/usr/bin/env python3
"""Writes properties.txt: which code points the reference matches by each named set that our patterns may contain.

  VENV/bin/python tests/tokenizer/golden/make_properties.py > tests/tokenizer/golden/properties.txt

with tokenizers 0.22.2 in VENV. A line: pattern, how many code points match alone, and a hash of them in rising order
(hash = hash * 1000003 + code point, modulo 2^64). Surrogates are left out: they cannot stand in a text.
"""
import sys

import tokenizers
from tokenizers import Regex, pre_tokenizers

WANTED = "0.22.2"
CATEGORIES = "L M N P S Z Lu Ll Lt Lm Lo Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Co Cs"
SCRIPTS = ("Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew "
           "Hiragana Kannada Katakana Khmer Lao Latin Malayalam Mongolian Myanmar Oriya Sinhala Tamil Telugu Thai Tibetan")
OTHERS = r"\w \W [\w] [^\w] \d \D [\d] [^\d] \s \S [\s] [^\s] [\w\s] (?i:s) (?i:k) (?i:[a-z]) (?i:[^a-z]) \P{L} [^\p{Han}] \p{^N}"


def matched_by(pattern):
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    return [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and not split.pre_tokenize_str(chr(c))]


def main():
    if tokenizers.__version__ != WANTED:
        sys.exit(f"this needs tokenizers {WANTED}, found {tokenizers.__version__}")
    print(f"# tokenizers {WANTED}; made by make_properties.py")
    for pattern in [rf"\p{{{name}}}" for name in (CATEGORIES + " " + SCRIPTS).split()] + OTHERS.split():
        members = matched_by(pattern)
        total = 0
        for c in members:
            total = (total * 1000003 + c) % 2**64
        print(pattern, len(members), total, flush=True)


main()
