/* Alignment of ranks under uneven data (DGAP), and its recovery from faults.
 *
 * Trainers take numbered slots in lock step. Each rank's collate process fills the slots of a small arena; the collates
 * agree round by round how many. Collates die, a stop arrives, data gets stuck, a trainer vanishes. Checked: no
 * deadlock, no cycle, every view trained exactly once, all ranks at the same slot. docs/dgap.md explains the protocol, in the
 * same words; run.py has the configurations. This file holds the options, the shared memory and the outer world.
 */

/* Size of the job, set with -D. */
#ifndef RANKS
#define RANKS 2
#endif
#ifndef DEPTH               /* finished slots kept ready per rank: the size of its arena */
#define DEPTH 1
#endif
#ifndef VIEWS               /* a rank has 0 to VIEWS views in the epoch */
#define VIEWS 2
#endif
#ifndef ROUND_GROUPS        /* R: no round is longer */
#define ROUND_GROUPS 3
#endif
#ifndef MICRO_STEPS         /* slots per optimizer step */
#define MICRO_STEPS 1
#endif

/* What may go wrong, set with -D:
 *   COLLATE_DEATHS=n       up to n times a collate process is killed, anywhere
 *   STOP                   rank 0 is asked to stop, at any time
 *   STUCK_DATA             samples of the last rank may never come (with STOP: nothing else would end the run)
 *   TRAINER_DEATH          trainer 0 vanishes without a word, at any time
 *   BAD_VIEWS=n            up to n views turn bad, on any rank, at any time before they are published
 *
 * Other rules:
 *   NON_JOIN               the epoch ends when the first rank is dry, instead of when all are
 *   ALIGN_PAPER            T from the largest offer, instead of the least
 *   BUSY_VOTES             trainers vote without a pause while a slot is missing: cycles, so termination needs fairness
 *   FIXED_SHARDS           VIEWS views on each rank but the last, which has one: fewer states
 *
 * Wrong protocols, kept to see them fail:
 *   REPLAY_OWN_POSITION    after a fault each rank goes back to its own last finished slot
 *   REPUBLISH              a replay publishes again what is published already
 *   FAULT_BY_CONTROL       collates hear of a fault only through the control all-reduce that goes with a slot
 *   DEAF_WHEN_FULL         a collate with a full arena does not look at the generation counter
 *   JOIN_BEFORE_RECORD     a collate joins a generation first and records its number afterwards
 *   BLIND_INCREMENT        every witness of a fault increments the counter, without comparing
 *   NO_END_BARRIER         a trainer leaves at its end slot without asking the others
 *   EXIT_AFTER_END         a collate exits once its end slot is published
 *   ONE_START_KEPT         only the newest round start is kept
 *   CONTROL_AFTER_SLOT     a trainer joins the control all-reduce only once its slot is ready
 *   NO_HEARTBEAT           nobody notices that a trainer vanished
 *   NO_VIEW_CAP            T ignores how many views the ranks hold (with ALIGN_PAPER)
 *   FORM_ANEW              a replay leaves bad views out of sealed rounds, too (no harm: the checks end the run)
 *   NO_ROUND_CHECK         a replay does not compare its totals with those of the sealed round
 *   NO_END_CHECK           it does not compare them if the round ends the epoch now
 *   NO_VOTE_CHECK          trainers do not compare the totals of a slot in their vote
 *   OWN_SEAL_ONLY          a rank does not learn that another rank sealed the round
 *   SEAL_AFTER_PUBLISH     a round is sealed after its last slot is published
 */
#ifndef COLLATE_DEATHS
#define COLLATE_DEATHS 0
#endif
#ifdef NO_ROUND_CHECK         /* its replays differ: the search is for the harm to views that follows */
#define ASSERT_EQUAL_REPLAY(condition) skip
#else
#define ASSERT_EQUAL_REPLAY(condition) assert(condition)
#endif
#if defined(FAULT_BY_CONTROL) || defined(NO_END_BARRIER)
#define CONTROL_AFTER_SLOT
#endif
#ifdef ONE_START_KEPT
#define SAVED_STARTS 1
#else
#define SAVED_STARTS (DEPTH + 1)
#endif

mtype = { VIEWS_SLOT, IDLE_SLOT, END_SLOT };

/* The start of a round, as a collate saves it. */
typedef Start {
  byte round;
  byte slots;               /* published before it */
  byte drawn;               /* views emitted before it: the window and the sampler position */
  byte groups;              /* g, what this rank offers; 0: not chosen yet */
  byte views;               /* how many views the round emits; 0: not chosen yet */
  byte emits;               /* for how many slots they were chosen */
  byte left_out;            /* bad views that were left out of the window */
  byte sealed;              /* the totals, before the first slot is published; 0: not known yet */
};                          /* groups and views are functions of the state: chosen freely once, kept for replays */

typedef Slot {
  mtype kind;
  byte round;
  byte first_view;
  byte views;
  byte totals;              /* of the round, in its first slot: the least that trainers can compare */
  bool last_of_step;
};

/* The shared memory of one rank: it outlives the collate. */
typedef SharedMemory {
  byte generation;          /* recorded by collate before it joins */
  Start start[SAVED_STARTS];
  byte newest;              /* the newest saved round */
  Slot arena[DEPTH];        /* slot q lies at q % DEPTH until it is released */
  byte published;           /* the number of the last published slot */
  byte released;            /* the number of the last slot that the trainer is done with */
  bool failed;              /* collate found that the run must end */
};
SharedMemory shm[RANKS];
#define START(rank, n) shm[rank].start[(n) % SAVED_STARTS]
#define ARENA(rank, q) shm[rank].arena[(q) % DEPTH]
#define READY(rank) (shm[rank].published > shm[rank].released)

byte shard[RANKS];          /* views of each rank in this epoch */

/* The outer world's hand in it. */
#if COLLATE_DEATHS > 0
chan kill = [0] of { byte };  /* a collate dies the moment that its rank is sent */
#endif
bool stop_asked, vanish, peer_lost[RANKS];
bool trainer_left[RANKS];     /* its children end with it */

#include "side_group.pml"
#include "bad_views.pml"
#include "collate.pml"
#include "trainer.pml"

/* Ranks that nothing sets apart may be swapped: only one order of their shards is explored. */
#if defined(STUCK_DATA)
#define ALIKE_FROM RANKS
#elif defined(STOP) || defined(TRAINER_DEATH) || COLLATE_DEATHS > 0
#define ALIKE_FROM 1          /* rank 0 is the one that things happen to */
#else
#define ALIKE_FROM 0
#endif

inline deal_views() {
  for (rank : 0 .. RANKS - 1) {
#ifdef FIXED_SHARDS
    shard[rank] = (rank < RANKS - 1 -> VIEWS : 1)
#else
    most = VIEWS;
    if
    :: rank > ALIKE_FROM -> most = shard[rank - 1]
    :: else
    fi;
    select_up_to(shard[rank], 0, most)
#endif
  }
}

#ifdef BUSY_VOTES
ltl everyone_leaves { <> (departures == RANKS) }
#endif

/* The outer world: deals the views, starts the processes, then does its harm at any time. */
init {
  byte rank, most;
  atomic {
    deal_views();
    for (rank : 0 .. GENERATIONS - 1) { clear_side_group(rank) }
    for (rank : 0 .. RANKS - 1) { run Collate(rank); run Trainer(rank) }
    rank = 0; most = 0
  }
#ifdef STOP
  stop_asked = true
#endif
#ifdef TRAINER_DEATH
  vanish = true;
  trainer_left[0];            /* vanished, or it had left before */
#ifndef NO_HEARTBEAT
  if
  :: vanished -> for (rank : 1 .. RANKS - 1) { peer_lost[rank] = true }   /* the peers' heartbeat threads, one by one */
  :: else
  fi
#endif
#endif
}

#if COLLATE_DEATHS > 0
active proctype Killer() {    /* it may also spare them: it can end at each kill */
end_first:
  kill ! 0;                   /* ranks are alike */
#if COLLATE_DEATHS > 1
  byte deaths;
  for (deaths : 2 .. COLLATE_DEATHS) {
end_next:
    if
    :: kill ! 0
    :: kill ! 1
#if RANKS > 2
    :: kill ! 2
#endif
    fi
  }
#endif
}
#endif
