"""Checks that every Catch2 test name can travel through ctest: the name is what ctest asks the program for.

A ';' would make two names of it, an unmatched '[' swallow those behind it, a '-' in front make it an option.
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
                yield f"{file.relative_to(root)}: '{name}' holds '{found.group()}'; say it in other words"


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(faults(root))
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
