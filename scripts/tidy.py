"""Runs clang-tidy over the files of a compilation database, several at once; see scripts/tidy.sh.

A file that passed is recorded by a checksum of its text with all headers (including comments, because of NOLINT), its
command, .clang-tidy and the version of the tool. With --passed FOLDER, such files are skipped the next time.
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
    """The compiler's arguments, without a launcher and without gcc's precompiled header, which clang cannot read."""
    arguments = shlex.split(command)
    launchers = [i for i, argument in enumerate(arguments) if argument.endswith("/ccache")]
    if launchers:
        arguments = arguments[launchers[-1] + 1:]
    cleaned, skip = [], False
    for argument, following in zip(arguments, arguments[1:] + [""]):
        if skip:
            skip = False
        elif argument == "-include" and following.endswith("cmake_pch.hxx"):
            skip = True
        elif argument not in ("-fpch-preprocess", "-Winvalid-pch"):
            cleaned.append(argument)
    return cleaned


def read_database(build):
    """{file: entry} of the checkout's own sources, without generated ones."""
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if file.is_relative_to(ROOT) and not file.is_relative_to(build):
            entries[str(file)] = {"directory": entry["directory"], "file": str(file),
                                  "arguments": clean_command(entry["command"])}
    return entries


def checksum(entry, tool_version):
    """None when the file cannot be preprocessed: then it is checked, and the tool reports why.

    Macros are not expanded but kept with their definitions: that is as exact, and takes a tenth of the time."""
    arguments = list(entry["arguments"])
    arguments[arguments.index("-o") + 1] = "-"
    arguments[arguments.index("-c")] = "-E"
    text = subprocess.run(arguments + ["-C", "-fdirectives-only"], cwd=entry["directory"], capture_output=True)
    if text.returncode != 0:
        return None
    parts = [text.stdout, " ".join(arguments).encode(), (ROOT / ".clang-tidy").read_bytes(), tool_version]
    where = str(ROOT).encode()  # the same key in another checkout
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
