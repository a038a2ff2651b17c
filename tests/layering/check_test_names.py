#!/usr/bin/env python3
"""Checks that the name of every Catch2 test case survives the way through ctest.

    check_test_names.py [ROOT]      prints one line per fault, exit code 1 when there are any

';' and '[' split CMake's lists, so such a test would never run under its name; '-' in front makes the name an option of
the test program; a comma or a backslash is fine.
"""

import pathlib
import re
import sys

TEST_CASE = re.compile(r'\b(?:TEST_CASE|SCENARIO)\(\s*"((?:[^"\\]|\\.)*)"')


def fault(name):
    """What is wrong with a test's name; '' when nothing is."""
    if name.startswith("-"):
        return "begins with '-'"
    split = [sign for sign in ";[" if sign in name]
    return f"holds '{split[0]}'" if split else ""


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    faults = [
        f"{path.relative_to(root)}: test \"{name}\" {fault(name)}"
        for path in sorted((root / "tests").rglob("*.cc"))
        for name in TEST_CASE.findall(path.read_text(encoding="utf-8"))
        if fault(name)
    ]
    print("\n".join(faults + [f"{len(faults)} test names that ctest cannot pass on"]))
    return 1 if faults else 0


if __name__ == "__main__":
    assert fault("-x") and fault("a; b") and fault("[0, 1)") and not fault("it's a, b")
    sys.exit(main())
