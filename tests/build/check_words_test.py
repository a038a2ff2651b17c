#!/usr/bin/env python3
"""check_words.py on made-up lines: what it must find, and what it must leave alone."""

import check_words

FOUND = {
    "// tells the other ranks": "tell, told",
    "void tell(double loss);": "tell, told",
    "bool told_ = false;": "tell, told",
    "void tell_failure();": "tell, told",
    "bool all_at_hand = false;": "at hand",
    "the slot at hand": "at hand",
    "leave in peace": "in peace",
    "behind the last epoch": "behind",
    "4,018 talks": "talk",
    "that is so by now": "by now",
    "class LifeLine {": "life line",
    "ODB_LAST_WORDS": "last words",
    "std::int64_t most_bytes": "most_bytes",
    "constexpr int kMostWorkers = 64;": "kMostWorkers",
    'fail("found 3, wanted 4");': "wanted in a message",
    "Glances at it": "glance",
}
LEFT_ALONE = (
    "views = source.wanted(4);",
    "at most 64 ranks",
    "the least of them",
    "intelligent, retelling, hotel",
    "almost_all of them, utmost_care",
    "the latest, the oldest",
    "kMostly",
)


def main():
    for line, word in FOUND.items():
        names = [name for name, _ in check_words.line_faults(line)]
        assert word in names, f"{line!r}: found {names}, expected {word!r}"
    for line in LEFT_ALONE:
        names = [name for name, _ in check_words.line_faults(line)]
        assert not names, f"{line!r}: found {names}, expected none"
    print(f"{len(FOUND) + len(LEFT_ALONE)} lines judged right")


main()
