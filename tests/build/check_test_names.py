"""Checks that every Catch2 test name works with ctest, which passes it to the test program.

A ';' would split it into two names, an unmatched '[' would swallow the following names, a leading '-' would be an option.
"""

import pathlib
import re
import sys

TEST_CASE = re.compile(r'\b(?:TEMPLATE_)?TEST_CASE(?:_METHOD)?\(\s*(?:\w+,\s*)?"((?:[^"\\]|\\.)*)"')
FORBIDDEN = re.compile(r'^\s*-|^\s|\s$|[;\[\]\\"]|\$')


def faults(root):
    for file in sorted((root / "tests").rglob("*.cc")):
        for name in TEST_CASE.findall(file.read_text(encoding="utf-8")):
            found = FORBIDDEN.search(name)
            if found:
                yield f"{file.relative_to(root)}: '{name}' holds '{found.group()}'; choose other words"


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(faults(root))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
