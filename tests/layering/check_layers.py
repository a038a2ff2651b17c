#!/usr/bin/env python3
"""Checks that the #include lines and the USES lists obey the table of permitted arrows between modules.

    check_layers.py [ROOT]      prints one line per fault, exit code 1 when there are any

A file of lib/MODULE may include "MODULE/..." of its own module and of those named behind it in ARROWS, always by the path
from lib/. Headers of LibTorch and CUDA may only be seen where TORCH says so, and a pure module sees neither files,
processes nor clocks. Files of apps/ may include every module, and each other by bare name.
"""

import pathlib
import re
import sys

ALL = {"base", "batching", "data", "model", "dist", "profile", "train"}
ARROWS = {
    "base": set(),
    "batching": {"base"},
    "data": {"base", "batching"},
    "model": {"base"},
    "dist": {"base", "batching"},
    "profile": {"base"},
    "train": ALL - {"train"},
}
TORCH = {"model", "dist", "profile", "train"}
PURE = {"batching"}

TORCH_HEADER = re.compile(r"(torch|ATen|c10|caffe2|cuda|gloo|nccl|cupti|kineto)(/|_|\.|$)|libkineto")
IMPURE_HEADER = re.compile(r"(filesystem|fstream|chrono|ctime|csignal|unistd\.h|fcntl\.h|time\.h|signal\.h|dlfcn\.h|"
                           r"(sys|netinet|arpa|linux)/.*)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
MODULE_CALL = re.compile(r"odb_add_module\(\s*(\w+)([^)]*)\)")
SUFFIXES = {".h", ".cc", ".cu", ".inc"}


def include_fault(module, quote, path):
    """What is wrong with one include line of a file in lib/`module` (or of apps, module None); '' when nothing is."""
    folder = path.split("/")[0]
    if ".." in path.split("/") or path.startswith("."):
        return "relative path; write it from lib/"
    if quote == "<":
        if folder in ALL and "/" in path:
            return "a module's header in angle brackets; write it in quotes"
        if module and module not in TORCH and TORCH_HEADER.match(path):
            return f"{module} does without LibTorch and CUDA"
        if module in PURE and IMPURE_HEADER.match(path):
            return f"{module} is pure: no files, processes or clocks"
        return ""
    if "/" not in path:
        return "no module folder; write it from lib/" if module else ""
    if folder not in ALL:
        return f"unknown module '{folder}'"
    if module and folder != module and folder not in ARROWS[module]:
        return f"{module} must not use {folder} (permitted: {', '.join(sorted(ARROWS[module])) or 'nothing'})"
    return ""


def file_faults(root, file, module):
    text = file.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        fault = include_fault(module, *found.groups()) if found else ""
        if fault:
            yield f"{file.relative_to(root)}:{number}: {line.strip()}: {fault}"


def uses_faults(root, file, module):
    """The module's USES list in its CMakeLists.txt."""
    for name, words in MODULE_CALL.findall(file.read_text(encoding="utf-8")):
        words = words.split()
        uses = words[words.index("USES") + 1:] if "USES" in words else []
        for used in uses:
            if used in {"SOURCES", "LINK", "TORCH"}:
                break
            if used not in ARROWS[module]:
                yield f"{file.relative_to(root)}: module {name}: USES {used}: not permitted for {module}"
        if "TORCH" in words and module not in TORCH:
            yield f"{file.relative_to(root)}: module {name}: TORCH: {module} does without LibTorch"


def faults(root):
    for folder in sorted((root / "lib").iterdir()):
        if not folder.is_dir():
            continue
        module = folder.name
        if module not in ARROWS:
            yield f"lib/{module}: unknown module; add it to the table in tests/layering/check_layers.py and to the docs"
            continue
        for file in sorted(folder.rglob("*")):
            if file.suffix in SUFFIXES:
                yield from file_faults(root, file, module)
            elif file.name == "CMakeLists.txt":
                yield from uses_faults(root, file, module)
    for file in sorted((root / "apps").rglob("*")):
        if file.suffix in SUFFIXES:
            yield from file_faults(root, file, None)


def main():
    default = pathlib.Path(__file__).resolve().parent.parent.parent
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default
    found = list(faults(root))
    for fault in found:
        print(fault)
    print(f"{len(found)} wrong arrows in {root}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
