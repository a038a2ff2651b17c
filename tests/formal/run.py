#!/usr/bin/env python3
"""Checks every configuration of the model with spin, one line each; exits with 0 only if all have the expected result.

    tests/formal/run.py [--quick | --full] [--only TEXT] [--trail]

A search that is cut short by depth, memory or time fails, whatever it found before. One search runs at a time;
everything is built in a temporary folder, which is removed.
"""

import argparse
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import configurations

HERE = Path(__file__).resolve().parent
MISSING_TOOL_EXIT = 77
MEMORY_LIMIT_MB = 4500
SEARCH_DEPTH = 20000
COMPILE_FLAGS = {
    "safety": ["-DSAFETY"],
    "cycles": ["-DNP", "-DNOFAIR"],
    "fair": ["-DNFAIR=3", "-DNOREDUCE"],
}
RUN_FLAGS = {"safety": [], "cycles": ["-l"], "fair": ["-a", "-f"]}
TRUNCATED = re.compile(r"timed out after \d+ s|max search depth too small|out of memory|reached -DMEMLIM|VECTORSZ")


def require_tools():
    missing = [tool for tool in ("spin", "gcc") if shutil.which(tool) is None]
    if missing:
        print(f"The model checker needs {' and '.join(missing)}.")
        print(f"On Debian or Ubuntu: apt-get install {' '.join(missing)}")
        sys.exit(MISSING_TOOL_EXIT)


def execute(command, folder, timeout_seconds=None):
    return subprocess.run(["nice"] + command, cwd=folder, timeout=timeout_seconds, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def defines(configuration):
    return ["-D" + macro for macro in configuration.macros.split()]


def build(configuration, folder):
    """Builds the verifier `pan` in the folder; returns the problem if there is one."""
    for source in HERE.glob("*.pml"):
        shutil.copy(source, folder)
    optimize = "-O1" if configuration.error is None else "-O0"  # errors are found immediately
    steps = (
        ["spin", "-a"] + defines(configuration) + ["dgap.pml"],
        ["gcc", "-w", optimize, "-DCOLLAPSE", "-DVECTORSZ=2048", f"-DMEMLIM={MEMORY_LIMIT_MB}"]
        + COMPILE_FLAGS[configuration.search] + ["-o", "pan", "pan.c"],
    )
    for step in steps:
        result = execute(step, folder)
        if result.returncode != 0:
            return f"{step[0]} failed:\n{result.stdout}"
    return None


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found.group(1)) if found else 0


def judge(configuration, output):
    """Returns (as expected, what was found)."""
    truncated = TRUNCATED.search(output)
    if truncated:
        return False, "search cut short: " + truncated.group(0)
    error = re.search(r"pan:\d+: (.*?) \(at depth", output)
    expected = configuration.error
    if expected and not error:
        return False, f"found no error, expected: {expected.meaning}"
    if expected and re.search(expected.pattern, error.group(1)):
        return True, f"found: {expected.meaning}"
    if error:
        return False, error.group(1)
    if "Search not completed" in output or not re.search(r"errors: 0$", output, re.MULTILINE):
        return False, "no verdict: " + output[-200:]
    if configuration.reach_all:
        for process in ("Collate", "Trainer"):
            if not re.search(rf"unreached in proctype {process}\n\t\(0 of", output):
                return False, f"statements of {process} were never executed"
    return True, "ok"


def search(configuration, folder, timeout_seconds):
    """Returns the output of the verifier."""
    try:
        return execute(["./pan", f"-m{SEARCH_DEPTH}"] + RUN_FLAGS[configuration.search], folder, timeout_seconds).stdout
    except subprocess.TimeoutExpired:
        return f"timed out after {timeout_seconds} s"


def print_trail(configuration, folder):
    if any(Path(folder).glob("*.trail")):
        print(execute(["spin", "-t", "-p", "-g"] + defines(configuration) + ["dgap.pml"], folder).stdout)


def check(configuration, timeout_seconds, show_trail=False):
    """Runs one configuration, prints its line and returns whether it had the expected result."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dgap-") as folder:
        problem = build(configuration, folder)
        output = problem or search(configuration, folder, timeout_seconds)
        passed, found = (False, problem) if problem else judge(configuration, output)
        if show_trail:
            print_trail(configuration, folder)
    states = number(r"(\d+) states, stored", output)
    depth = number(r"depth reached (\d+)", output)
    seconds = time.monotonic() - start
    verdict = "PASS" if passed else "FAIL"
    print(f"{verdict}  {configuration.name:<42} {states:>10} states  depth {depth:>4}  {seconds:6.1f} s  {found}",
          flush=True)
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="the configurations for every change (default)")
    size.add_argument("--full", action="store_true", help="these and larger ones")
    parser.add_argument("--only", default="", metavar="TEXT", help="only configurations whose name holds TEXT")
    parser.add_argument("--trail", action="store_true", help="print the steps that lead to an error")
    options = parser.parse_args()
    require_tools()
    chosen = configurations.POSITIVE + (configurations.LARGE if options.full else []) + configurations.NEGATIVE
    chosen = [configuration for configuration in chosen if options.only in configuration.name]
    start = time.monotonic()
    passed = [check(configuration, 1800 if options.full else 600, options.trail) for configuration in chosen]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{sum(passed)} of {len(passed)} as expected, {time.monotonic() - start:.0f} s, "
          f"processor time {used.ru_utime + used.ru_stime:.0f} s")
    return 0 if passed and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
