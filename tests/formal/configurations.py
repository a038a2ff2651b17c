"""The configurations of the model: what to search, with which faults, and the expected result.

A search is `safety` (deadlock, assertions), `cycles` (no cycle at all: without a deadlock, every run ends) or `fair`
(with votes repeated without a pause, every trainer leaves under weak fairness). dgap.pml explains the macros.
"""

from dataclasses import dataclass



@dataclass(frozen=True)
class Error:
    meaning: str
    pattern: str  # of spin's output


DEADLOCK = Error("deadlock", r"invalid end state")
CYCLE = Error("a cycle", r"non-progress cycle")
OTHER_ROUND = Error("collates meet in different rounds", r"\.round==round\)")
NOT_ONCE = Error("a view trained twice or left out", r"first_view==trained|trained.*views")
OTHER_TOTALS = Error("ranks train slots of different totals", r"totals==.*totals")
START_GONE = Error("a round start is gone", r"start\[.*\.round==")
TOO_MANY_GENERATIONS = Error("more generations than losses", r"generation_counter<")
SLOT_WITHOUT_VIEW = Error("a rank cannot fill its slots", r"to_emit<=held")


@dataclass(frozen=True)
class Configuration:
    name: str
    macros: str
    error: Error | None = None  # which must be found
    search: str = "safety"
    reach_all: bool = False  # every statement of collate and trainer must have been executed


FORM_ANEW = "FORM_ANEW BAD_VIEWS=1 COLLATE_DEATHS=1"

POSITIVE = [
    Configuration("2 ranks", "VIEWS=4"),
    Configuration("2 ranks, arena of 2, steps of 3 slots", "VIEWS=4 DEPTH=2 MICRO_STEPS=3", reach_all=True),
    Configuration("2 ranks, paper alignment", "VIEWS=4 ALIGN_PAPER"),
    Configuration("2 ranks, non-join", "VIEWS=4 DEPTH=2 MICRO_STEPS=2 NON_JOIN"),
    Configuration("3 ranks", "RANKS=3 VIEWS=2 MICRO_STEPS=2"),
    Configuration("3 ranks, non-join", "RANKS=3 VIEWS=2 NON_JOIN"),
    Configuration("2 ranks, 1 death", "COLLATE_DEATHS=1 VIEWS=3"),
    Configuration(
        "2 ranks, 1 death, arena of 2, steps of 2", "COLLATE_DEATHS=1 VIEWS=3 DEPTH=2 MICRO_STEPS=2", reach_all=True
    ),
    Configuration("2 ranks, 1 death, paper alignment", "COLLATE_DEATHS=1 VIEWS=2 ALIGN_PAPER"),
    Configuration("2 ranks, 1 death, non-join", "COLLATE_DEATHS=1 VIEWS=3 DEPTH=2 MICRO_STEPS=2 NON_JOIN"),
    Configuration("2 ranks, 2 deaths", "COLLATE_DEATHS=2 VIEWS=2"),
    Configuration("3 ranks, 1 death", "RANKS=3 COLLATE_DEATHS=1 VIEWS=2 FIXED_SHARDS"),
    Configuration("2 ranks, stuck data and a stop", "STUCK_DATA STOP VIEWS=3 MICRO_STEPS=2"),
    Configuration("2 ranks, stuck data, a stop, 1 death", "STUCK_DATA STOP COLLATE_DEATHS=1 VIEWS=2"),
    Configuration("2 ranks, trainer death", "TRAINER_DEATH VIEWS=2 MICRO_STEPS=2"),
    Configuration("2 ranks, a bad view", "BAD_VIEWS=1 VIEWS=4 MICRO_STEPS=2"),
    Configuration("2 ranks, a bad view, 1 death", "BAD_VIEWS=1 COLLATE_DEATHS=1 VIEWS=2"),
    Configuration(
        "2 ranks, a bad view, 1 death, arena of 2", "BAD_VIEWS=1 COLLATE_DEATHS=1 VIEWS=3 FIXED_SHARDS DEPTH=2"
    ),
    Configuration("bad view left out of sealed rounds", FORM_ANEW + " VIEWS=2"),
    Configuration("ends: 2 ranks, 1 death", "COLLATE_DEATHS=1 VIEWS=2 MICRO_STEPS=2", search="cycles"),
    Configuration("ends: stuck data, a stop, 1 death", "STUCK_DATA STOP COLLATE_DEATHS=1 VIEWS=1", search="cycles"),
    Configuration("ends: trainer death", "TRAINER_DEATH VIEWS=1", search="cycles"),
    Configuration("ends: a bad view, 1 death", "BAD_VIEWS=1 COLLATE_DEATHS=1 VIEWS=1", search="cycles"),
    Configuration("ends, busy votes: 1 death", "BUSY_VOTES COLLATE_DEATHS=1 VIEWS=1", search="fair"),
    Configuration("ends, busy votes: stuck data and a stop", "BUSY_VOTES STUCK_DATA STOP VIEWS=1", search="fair"),
]

LARGE = [
    Configuration("2 ranks, many views", "VIEWS=6 DEPTH=2 MICRO_STEPS=2"),
    Configuration("2 ranks, arena of 3", "VIEWS=5 DEPTH=3 MICRO_STEPS=2"),
    Configuration("3 ranks, more views", "RANKS=3 VIEWS=3 MICRO_STEPS=2"),
    Configuration("3 ranks, arena of 2", "RANKS=3 VIEWS=2 DEPTH=2"),
    Configuration("2 ranks, 1 death, more views", "COLLATE_DEATHS=1 VIEWS=4 DEPTH=2 MICRO_STEPS=3"),
    Configuration("2 ranks, 1 death, arena of 3", "COLLATE_DEATHS=1 VIEWS=4 DEPTH=3"),
    Configuration("2 ranks, 2 deaths, more views", "COLLATE_DEATHS=2 VIEWS=3 MICRO_STEPS=2"),
    Configuration("2 ranks, 2 deaths, arena of 2", "COLLATE_DEATHS=2 VIEWS=2 DEPTH=2 MICRO_STEPS=2"),
    Configuration("2 ranks, 3 deaths", "COLLATE_DEATHS=3 VIEWS=1"),
    Configuration("3 ranks, 1 death, all shards", "RANKS=3 COLLATE_DEATHS=1 VIEWS=2"),
    Configuration("3 ranks, 2 deaths", "RANKS=3 COLLATE_DEATHS=2 VIEWS=1 FIXED_SHARDS"),
    Configuration("3 ranks, stuck data and a stop", "RANKS=3 STUCK_DATA STOP VIEWS=2"),
    Configuration("3 ranks, trainer death", "RANKS=3 TRAINER_DEATH VIEWS=1"),
    Configuration("2 ranks, stuck data, a stop, 2 deaths", "STUCK_DATA STOP COLLATE_DEATHS=2 VIEWS=1"),
    Configuration("2 ranks, trainer and collate death", "TRAINER_DEATH COLLATE_DEATHS=1 VIEWS=2"),
    Configuration("2 ranks, a bad view, 1 death, more views", "BAD_VIEWS=1 COLLATE_DEATHS=1 VIEWS=3"),
    Configuration("2 ranks, 2 bad views, 1 death", "BAD_VIEWS=2 COLLATE_DEATHS=1 VIEWS=2"),
    Configuration("2 ranks, a bad view, 2 deaths", "BAD_VIEWS=1 COLLATE_DEATHS=2 VIEWS=2 FIXED_SHARDS"),
    Configuration("2 ranks, a bad view, a stop, 1 death", "BAD_VIEWS=1 STOP COLLATE_DEATHS=1 VIEWS=2"),
    Configuration("3 ranks, a bad view, 1 death", "RANKS=3 BAD_VIEWS=1 COLLATE_DEATHS=1 VIEWS=1 FIXED_SHARDS"),
    Configuration("ends: 2 ranks, 2 deaths", "COLLATE_DEATHS=2 VIEWS=2", search="cycles"),
    Configuration("ends: 3 ranks, 1 death", "RANKS=3 COLLATE_DEATHS=1 VIEWS=1", search="cycles"),
    Configuration("ends, busy votes: 2 deaths", "BUSY_VOTES COLLATE_DEATHS=2 VIEWS=1", search="fair"),
    Configuration(
        "ends, busy votes: stop, stuck, 1 death", "BUSY_VOTES STUCK_DATA STOP COLLATE_DEATHS=1 VIEWS=1", search="fair"
    ),
    # A wrong protocol fails only with the event that it handles wrongly; without that event it passes.
    Configuration("control after the slot, no stop", "CONTROL_AFTER_SLOT COLLATE_DEATHS=1 VIEWS=2"),
    Configuration("fault by control, no death", "FAULT_BY_CONTROL VIEWS=3"),
    Configuration("join before record, 1 death", "JOIN_BEFORE_RECORD COLLATE_DEATHS=1 VIEWS=2"),
]

NEGATIVE = [
    Configuration("each replays from its own position", "REPLAY_OWN_POSITION COLLATE_DEATHS=1", OTHER_ROUND),
    Configuration("a replay publishes again", "REPUBLISH COLLATE_DEATHS=1", NOT_ONCE),
    Configuration("fault reported by the control all-reduce", "FAULT_BY_CONTROL COLLATE_DEATHS=1", DEADLOCK),
    Configuration("deaf while the arena is full", "DEAF_WHEN_FULL COLLATE_DEATHS=1", DEADLOCK),
    Configuration("join first, record afterwards", "JOIN_BEFORE_RECORD COLLATE_DEATHS=2", DEADLOCK),
    Configuration("increment without comparing", "BLIND_INCREMENT COLLATE_DEATHS=1", TOO_MANY_GENERATIONS),
    Configuration("trainers leave without a barrier", "NO_END_BARRIER", DEADLOCK),
    Configuration("collate exits after its end slot", "EXIT_AFTER_END", DEADLOCK),
    Configuration("one round start kept", "ONE_START_KEPT COLLATE_DEATHS=1", START_GONE),
    Configuration("control after the slot, stuck data, stop", "CONTROL_AFTER_SLOT STUCK_DATA STOP", DEADLOCK),
    Configuration("a trainer vanishes, no heartbeat", "NO_HEARTBEAT TRAINER_DEATH", DEADLOCK),
    Configuration("T without the cap of views", "NO_VIEW_CAP ALIGN_PAPER", SLOT_WITHOUT_VIEW),
    Configuration(
        "bad view left out, no check", FORM_ANEW + " NO_ROUND_CHECK NO_VOTE_CHECK VIEWS=3 FIXED_SHARDS", NOT_ONCE
    ),
    Configuration(
        "bad view left out, checked in the vote", FORM_ANEW + " NO_ROUND_CHECK VIEWS=3 FIXED_SHARDS", NOT_ONCE
    ),
    Configuration("bad view left out, checked by collate", FORM_ANEW + " NO_VOTE_CHECK", OTHER_TOTALS),
    Configuration("bad view left out, not checked at the end", FORM_ANEW + " NO_END_CHECK", DEADLOCK),
    Configuration(
        "a seal that other ranks do not see", "OWN_SEAL_ONLY NO_VOTE_CHECK BAD_VIEWS=1 COLLATE_DEATHS=1", OTHER_TOTALS
    ),
    Configuration("sealed after the last slot", "SEAL_AFTER_PUBLISH BAD_VIEWS=1 COLLATE_DEATHS=1", NOT_ONCE),
    Configuration("busy votes cycle while they wait", "BUSY_VOTES", CYCLE, search="cycles"),
]
