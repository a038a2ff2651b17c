"""The measurements of batching_figures.sh: `odb-trainer plan` on the distribution "chat", and the grouping benchmark."""
import json
import os
import subprocess
import time

TRAINER = "build/release/odb-trainer"
SAMPLES_PER_RANK = 16_384


def plan(ranks, batching, *options):
    """The rows of a plan by name."""
    command = [TRAINER, "plan", "--lengths", "chat", "--ranks", str(ranks), "--samples", str(ranks * SAMPLES_PER_RANK),
               "--json", *options]
    for strategy in batching:
        command += ["--batching", strategy]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return {row["name"]: row for row in report["strategies"]}


def show(what, found, bound="", holds=None):
    print(f"{what:64} {found:>16}  {bound:14} {'' if holds is None else 'holds' if holds else 'MISSED'}", flush=True)


def percent(fraction, sign=""):
    return f"{100 * fraction:{sign}.2f} %"


def large_epoch():
    begin = time.perf_counter()
    process = subprocess.Popen([TRAINER, "plan", "--lengths", "chat", "--samples", "10000000", "--ranks", "8", "--batching",
                                "odb", "--layout", "flat", "--json"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"odb-trainer plan ended with exit code {process.returncode}")
    show("10 million lengths, 8 ranks: time", f"{seconds:.1f} s", "< 30 s", seconds < 30)
    show("10 million lengths, 8 ranks: peak memory", f"{usage.ru_maxrss / 1024:.0f} MiB", "< 1024 MiB",
         usage.ru_maxrss < 1 << 20)


def grouping():
    report = json.loads(subprocess.run(["build/release/bench/batching_bench", "--benchmark_filter=group_windows",
                                      "--benchmark_format=json"], check=True, capture_output=True, text=True).stdout)
    for benchmark in report["benchmarks"]:
        rate = benchmark["items_per_second"] / 1e6
        show(f"grouping, window 1,024, {benchmark['name'].split('/')[1]}", f"{rate:.1f} M samples/s", ">= 5 M", rate >= 5)


def padded(ranks):
    rows = plan(ranks, ["odb", "gmt"], "--layout", "padded")
    odb, gmt = rows["odb"], rows["gmt"]
    over = odb["steps"] / gmt["steps"] - 1
    name = f"padded greedy, {ranks:,} ranks: "
    show(name + "padding", percent(odb["padding_fraction"]), "<= 3 %", odb["padding_fraction"] <= 0.03)
    show(name + "steps over gmt", percent(over, "+"), *(("<= +5 %", over <= 0.05) if ranks == 8 else ("", None)))
    show(name + "  of this, groups over gmt's", percent(odb["groups"] / gmt["groups"] - 1, "+"))
    show(name + "  of this, ranks without data at the end", percent(odb["idle_fraction"]))


def flat(ranks):
    odb = plan(ranks, ["odb"], "--layout", "flat")["odb"]
    name = f"flat fit, {ranks:,} ranks: "
    fill, bias = odb["budget_fill_before_tail"], odb["length_bias"]
    show(name + "fill outside the tail", percent(fill), ">= 99 %", fill >= 0.99)
    show(name + "correlation of mean length and place, r", f"{bias:+.4f}", "|r| <= 0.05", abs(bias) <= 0.05)
    for tenth in "first", "last":
        off = odb[f"{tenth}_tenth_length"] / odb["mean_length"] - 1
        show(name + f"{tenth} tenth's mean length", percent(off, "+"), "within 15 %", abs(off) <= 0.15)


def stragglers():
    for layout, limit in ("padded", 0.03), ("flat", 0.015):
        for pairing in "cost", "random":
            share = plan(64, ["odb"], "--layout", layout, "--pair-by", pairing)["odb"]["straggler_fraction"]
            bound = (f"<= {100 * limit:g} %", share <= limit) if pairing == "cost" else ()
            show(f"waiting for the slowest, 64 ranks, {layout}, paired by {pairing}", percent(share), *bound)


large_epoch()
grouping()
for ranks in 8, 64, 1024:
    padded(ranks)
for ranks in 8, 64, 1024:
    flat(ranks)
stragglers()
