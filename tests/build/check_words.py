#!/usr/bin/env python3
"""Checks that the tree speaks plain English: none of the words below in code, comments, messages, docs or scripts.

    check_words.py [ROOT]      prints one line per fault, exit code 1 when there are any

word_exceptions.txt, beside this file, lists lines that may hold one: PATH | a part of the line | why.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("lib", "apps", "tests", "bench", "docs", "scripts", "configs", "cmake", ".ci")
FILES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CMakeLists.txt")
SUFFIXES = {".cc", ".h", ".py", ".sh", ".md", ".cmake", ".json", ".pml", ".in", ".txt", ""}
# Inputs of tests, in other people's words.
DATA = ("tests/cases/", "tests/data/tokenizer/golden", "tests/golden/", "tests/fuzz/model/")
OWN = ("tests/build/check_words.py", "tests/build/check_words_test.py", "tests/build/word_exceptions.txt")

# A word is bounded by anything but a letter, so that it is also found inside snake_case identifiers.
WORDS = {
    "tell, told": (r"tell|tells|told|untold", "report, print, log, show; reported"),
    "heed": (r"heed|heeds|heeded|heeding", "check, poll"),
    "glance": (r"glance|glances", "poll interval, look"),
    "lest": (r"lest", "so that ... not"),
    "at hand": (r"at[ _]hand", "ready, available"),
    "in peace": (r"in peace", "cleanly"),
    "behind": (r"behind", "after, following"),
    "talk": (r"talk|talks", "conversation"),
    "by now": (r"by now", "not implemented yet, already"),
    "life line": (r"life[ _]?lines?", "liveness connection"),
    "last words": (r"last[ _]words", "final error"),
}
PATTERNS = {name: (re.compile(rf"(?<![A-Za-z])(?:{word})(?![a-z])", re.IGNORECASE), better)
            for name, (word, better) in WORDS.items()}
PREFIX = re.compile(r"(?<![A-Za-z])(?:most|least|fewest)_\w+|\bk(?:Most|Least|Fewest)[A-Z]\w*")
MESSAGE = re.compile(r'"(?:[^"\\]|\\.)*\bwanted\b(?:[^"\\]|\\.)*"')


def line_faults(line):
    """(what is wrong, what to write) of one line."""
    for name, (pattern, better) in PATTERNS.items():
        if pattern.search(line):
            yield name, better
    found = PREFIX.search(line)
    if found:
        yield found[0], "max_..., min_..."
    if MESSAGE.search(line):
        yield "wanted in a message", "expected"


def checked_files(root):
    for name in FILES:
        yield root / name
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            name = file.relative_to(root).as_posix()
            if file.is_file() and file.suffix in SUFFIXES and not name.startswith(DATA) and name not in OWN:
                if "__pycache__" not in name:
                    yield file


def read_exceptions(root):
    exceptions = []
    for number, line in enumerate((root / OWN[2]).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split(" | ")]
        if len(parts) != 3 or not all(parts):
            raise SystemExit(f"{OWN[2]}:{number}: expected 'PATH | a part of the line | why', found '{line}'")
        exceptions.append([parts[0], parts[1], False])
    return exceptions


def faults(root):
    exceptions = read_exceptions(root)
    for file in checked_files(root):
        name = file.relative_to(root).as_posix()
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            found = list(line_faults(line))
            for exception in exceptions:
                if found and exception[0] == name and exception[1] in line:
                    exception[2] = True
                    found = []
            for word, better in found:
                yield f"{name}:{number}: '{word}': write: {better}: {line.strip()[:100]}"
    for name, part, used in exceptions:
        if not used:
            yield f"{OWN[2]}: the exception '{name} | {part}' is not needed any more; remove it"


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE.parent.parent
    found = list(faults(root))
    for fault in found:
        print(fault)
    print(f"{len(found)} lines with words to avoid in {root}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
