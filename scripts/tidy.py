"""Runs clang-tidy over the files of a compilation database, several at once; see scripts/tidy.sh.

A file that passed is remembered by a checksum of its text with all headers (comments kept: NOLINT counts), of its
command, of .clang-tidy and of the tool's version. With --passed FOLDER such files are skipped the next time.
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES_PER_PROGRESS_LINE = 50


def clean_command(command):
    """The compiler's words: no launcher before it, and without gcc's precompiled header, which clang cannot read."""
    words = shlex.split(command)
    launchers = [i for i, word in enumerate(words) if word.endswith("/ccache")]
    if launchers:
        words = words[launchers[-1] + 1:]
    cleaned, skip = [], False
    for word, following in zip(words, words[1:] + [""]):
        if skip:
            skip = False
        elif word == "-include" and following.endswith("cmake_pch.hxx"):
            skip = True
        elif word not in ("-fpch-preprocess", "-Winvalid-pch"):
            cleaned.append(word)
    return cleaned


def read_database(build):
    """{file: entry} of the checkout's own sources, generated ones left out."""
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if file.is_relative_to(ROOT) and not file.is_relative_to(build):
            entries[str(file)] = {"directory": entry["directory"], "file": str(file),
                                  "arguments": clean_command(entry["command"])}
    return entries


def checksum(entry, tool_version):
    """None when the file does not even preprocess: then it is checked, and the tool says why.

    Macros are left as they stand beside their definitions: that tells as much, in a tenth of the time."""
    words = list(entry["arguments"])
    words[words.index("-o") + 1] = "-"
    words[words.index("-c")] = "-E"
    text = subprocess.run(words + ["-C", "-fdirectives-only"], cwd=entry["directory"], capture_output=True)
    if text.returncode != 0:
        return None
    parts = [text.stdout, " ".join(words).encode(), (ROOT / ".clang-tidy").read_bytes(), tool_version]
    where = str(ROOT).encode()  # the same in another checkout
    return hashlib.sha256(b"\0".join(part.replace(where, b".") for part in parts)).hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clang-tidy", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--passed", type=pathlib.Path)
    options = parser.parse_args()

    build = options.build.resolve()
    entries = read_database(build)
    folder = build / "clang-tidy"
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(list(entries.values()), indent=1))
    version = subprocess.run([options.clang_tidy, "--version"], capture_output=True, check=True).stdout
    if options.passed:
        options.passed.mkdir(parents=True, exist_ok=True)

    def check(entry):
        mark = None
        if options.passed and (key := checksum(entry, version)):
            mark = options.passed / key
            if mark.exists():
                return "unchanged", ""
        run = subprocess.run([options.clang_tidy, "-p", str(folder), "--quiet", entry["file"]],
                             capture_output=True, text=True)
        if run.returncode != 0:
            return "failed", run.stdout + run.stderr
        if mark:
            mark.touch()
        return "passed", ""

    counts = {"passed": 0, "unchanged": 0, "failed": 0}
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for file, (result, text) in zip(entries, pool.map(check, entries.values())):
            counts[result] += 1
            if result == "failed":
                print(f"-- {pathlib.Path(file).relative_to(ROOT)}\n{text}", flush=True)
            done = sum(counts.values())
            if done % FILES_PER_PROGRESS_LINE == 0:
                print(f"{done} of {len(entries)} files after {time.monotonic() - begin:.0f} s", flush=True)
    print("== clang-tidy:", ", ".join(f"{count} {result}" for result, count in counts.items()))
    if not entries:
        print(f"{build}/compile_commands.json names no source of this checkout", file=sys.stderr)
    return 1 if counts["failed"] or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
