#!/usr/bin/env python3
"""Checks that the #include lines and the CMake lists follow the table of permitted arrows between modules.

    check_layers.py [ROOT]      prints one line per fault; exit code 1 if there are any

A file of lib/MODULE may include "MODULE/..." of its own module and of the modules that ARROWS lists for it, always by the
path from lib/. Only the modules in TORCH may include headers of LibTorch and CUDA. A pure module must not use files,
processes, threads, clocks or randomness. Files of apps/ may include every module, and each other by bare name.

The CMake targets of a module list exactly the sources of its folder. A source that no target lists is never compiled; a
source of another folder would bring that module in without an #include.
"""

import os
import pathlib
import re
import sys

ALL = {"base", "tokenizer", "batching", "plan", "data", "model", "dist", "profile", "train", "launch", "bench", "doctor"}
ARROWS = {
    "base": set(),
    "tokenizer": {"base"},
    "batching": {"base"},
    "plan": {"base", "batching"},
    "data": {"base", "tokenizer", "batching"},
    "model": {"base"},
    "dist": {"base", "batching"},
    "profile": {"base"},
    "train": {"base", "tokenizer", "batching", "plan", "data", "model", "dist", "profile"},
    "launch": {"base"},
    "bench": {"base", "tokenizer", "batching", "data", "model", "dist"},
    "doctor": {"base"},
}
TORCH = {"model", "dist", "profile", "train", "bench"}
PURE = {"batching"}

TORCH_HEADER = re.compile(r"(torch|ATen|c10|caffe2|cuda|gloo|nccl|cupti|kineto)(/|_|\.|$)|libkineto")
IMPURE_HEADER = re.compile(r"(filesystem|fstream|iostream|cstdio|stdio\.h|chrono|ctime|csignal|random|thread|mutex|future|"
                           r"condition_variable|unistd\.h|fcntl\.h|time\.h|signal\.h|dlfcn\.h|pthread\.h|"
                           r"(sys|netinet|arpa|linux)/.*|base/(real_file_system|signals|machine|log)\.h)$")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
INCLUDE = re.compile(r"^\s*#\s*(?:include|include_next|import)\b\s*(.*)")
QUOTED = re.compile(r'(["<])([^">]+)[">]')
MODULE_CALL = re.compile(r"odb_add_module\(\s*(\w+)([^)]*)\)")
LINK_CALL = re.compile(r"target_link_libraries\(([^)]*)\)")
SOURCE_CALL = re.compile(r"\b(?:odb_add_module|target_sources|add_library|add_executable)\(([^)]*)\)")
SOURCES = {".cc", ".cpp", ".cxx", ".c", ".cu"}
SUFFIXES = SOURCES | {".h", ".hh", ".hpp", ".hxx", ".cuh", ".inc", ".ipp"}


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
        return f"{module} is pure: no files, processes, threads, clocks or randomness"
    if quote == "<":
        return ""
    if "/" not in path:
        return "no module folder; write it from lib/" if module else ""
    if folder not in ALL:
        return f"unknown module '{folder}'"
    if module and folder != module and folder not in ARROWS[module]:
        return f"{module} must not use {folder} (permitted: {', '.join(sorted(ARROWS[module])) or 'nothing'})"
    return ""


def file_faults(root, file, module):
    name = str(file.relative_to(root))
    text = file.read_text(encoding="utf-8").replace("\\\n", " ")
    text = COMMENT.sub(lambda found: " " + "\n" * found[0].count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quoted = QUOTED.match(found[1])
        fault = include_fault(module, *quoted.groups()) if quoted else "hidden by a macro; write the path"
        if fault:
            yield f"{name}:{number}: {line.strip()}: {fault}"


def uses_faults(root, file, module):
    """The module's USES list in its CMakeLists.txt, and what it links past that."""
    text = file.read_text(encoding="utf-8")
    for words in LINK_CALL.findall(text):
        for linked in re.findall(r"\bodb_(\w+)", words):
            if linked in ALL and linked != module and linked not in ARROWS[module]:
                yield f"{file.relative_to(root)}: target_link_libraries: odb_{linked}: not permitted for {module}"
    for name, words in MODULE_CALL.findall(text):
        words = words.split()
        uses = words[words.index("USES") + 1:] if "USES" in words else []
        for used in uses:
            if used in {"SOURCES", "LINK", "TORCH"}:
                break
            if used not in ARROWS[module]:
                yield f"{file.relative_to(root)}: module {name}: USES {used}: not permitted for {module}"
        if "TORCH" in words and module not in TORCH:
            yield f"{file.relative_to(root)}: module {name}: TORCH: {module} does without LibTorch"


def listed_sources(file):
    """The sources that the targets of a CMakeLists.txt name, as written and as paths."""
    text = re.sub(r"#[^\n]*", "", file.read_text(encoding="utf-8"))
    for words in SOURCE_CALL.findall(text):
        for word in words.replace('"', " ").split():
            path = pathlib.PurePosixPath(word)
            if path.suffix in SOURCES:
                here = re.sub(r"^\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}/", "", word)
                yield word, None if "$" in here else pathlib.Path(os.path.normpath(file.parent / here))


def source_faults(root, folder):
    """Sources of a folder that no CMake target lists, and sources of other folders that one does."""
    listed = set()
    for file in sorted(folder.rglob("CMakeLists.txt")):
        for word, path in listed_sources(file):
            if path is None or not path.is_relative_to(folder):
                yield f"{file.relative_to(root)}: {word}: not a source of {folder.relative_to(root)}"
            listed.add(path)
    for file in sorted(folder.rglob("*")):
        if file.suffix in SOURCES and file not in listed:
            yield f"{file.relative_to(root)}: no CMake target lists it"


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
        yield from source_faults(root, folder)
    for file in sorted((root / "apps").rglob("*")):
        if file.suffix in SUFFIXES:
            yield from file_faults(root, file, None)
    for folder in sorted((root / "apps").iterdir()):
        if folder.is_dir():
            yield from source_faults(root, folder)


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
