/* The store's generation counter and the collates' side groups, one per generation.
 *
 * An all-reduce has two halves: contribute, where the last rank completes it for all, and wait. It may complete for one
 * rank and fail for another, as with real sockets: a rank that waits may take either whenever both are possible.
 */

/* The first one, and one more for each lost member: by death, or by leaving while others still communicate. */
#define GENERATIONS (1 + COLLATE_DEATHS + RANKS - 1)

byte generation_counter;                  /* in the store */
#ifdef FAULT_BY_CONTROL
byte reported;                                /* its value in the last control all-reduce */
#endif

typedef SideGroup {
  byte joined;
  byte replay_from;                       /* MIN of the newest saved rounds of those who joined */
  bool closed;                            /* a member's connections are gone */
  byte arrived;                           /* the all-reduce in progress: how many contributed, and which ranks wait */
  bool waiting[RANKS];
  byte round;                             /* of those who contributed */
  byte most_groups, least_groups, least_views;              /* being reduced, over the ranks that hold views */
  bool unfinished, finished;                                /* being reduced: does any rank hold views, is any dry */
  byte agreed_slots;                                        /* results: T */
  bool agreed_unfinished, agreed_finished;
};
SideGroup side[GENERATIONS];

#ifdef FAULT_BY_CONTROL
#define SUPERSEDED(g) (reported > g)
#define FAILED(g) SUPERSEDED(g)
#else
#define SUPERSEDED(g) (generation_counter > g)
#define FAILED(g) (SUPERSEDED(g) || side[g].closed)
#endif

inline select_up_to(variable, least, most) {
  variable = least;
  do
  :: variable < most -> variable++
  :: break
  od
}

inline at_most(variable, bound) {
  if
  :: variable > bound -> variable = bound
  :: else
  fi
}

inline at_least(variable, bound) {
  if
  :: variable < bound -> variable = bound
  :: else
  fi
}

inline clear_reduction(g) {
  side[g].arrived = 0;
  side[g].round = 0;
  side[g].most_groups = 0;
  side[g].least_groups = 255;
  side[g].least_views = 255;
  side[g].unfinished = false;
  side[g].finished = false;
  for (member : 0 .. RANKS - 1) { side[g].waiting[member] = false }
}

/* A generation without members is reset: fewer states. */
inline clear_side_group(g) {
  side[g].joined = 0;
  side[g].replay_from = 255;
  side[g].closed = false;
  side[g].agreed_slots = 0;
  side[g].agreed_unfinished = false;
  side[g].agreed_finished = false;
  clear_reduction(g)
}
hidden byte member, old;                  /* only loop counters */

inline join_side_group(g) {
  d_step {
    side[g].joined++;
    at_most(side[g].replay_from, shm[me].newest);
    if
    :: side[g].joined == RANKS -> for (old : 0 .. g - 1) { clear_side_group(old) }
    :: else
    fi
  }
}

/* A fault of generation g was seen, by a peer or by the dead collate's fork server. One of them raises the counter. */
inline raise_generation(g) {
  d_step {
    if
    :: generation_counter == g -> generation_counter++
#ifdef BLIND_INCREMENT
    :: generation_counter != g -> generation_counter++
#else
    :: else
#endif
    fi;
    assert(generation_counter < GENERATIONS)  /* bounded recovery: a fault costs one generation */
  }
}

/* T = max(1, min(max g, min s of the unfinished, R)); balanced also caps it by the smallest g of the unfinished. */
inline agree(g) {
  side[g].agreed_slots = side[g].most_groups;
#ifndef ALIGN_PAPER
  at_most(side[g].agreed_slots, side[g].least_groups);
#endif
#ifndef NO_VIEW_CAP
  at_most(side[g].agreed_slots, side[g].least_views);
#endif
  at_most(side[g].agreed_slots, ROUND_GROUPS);
  at_least(side[g].agreed_slots, 1);
  side[g].agreed_unfinished = side[g].unfinished;
  side[g].agreed_finished = side[g].finished
}

/* First all-reduce of a round, MAX over {g, -g, -s, unfinished, finished}: ranks with views offer groups of them. */
inline contribute_offer(g, at_round, views_held, groups_offered) {
  d_step {
    if
    :: side[g].arrived == 0 -> side[g].round = at_round
    :: else -> assert(side[g].round == at_round)      /* collates in lock step: all in the same round */
    fi;
    if
    :: views_held > 0 ->
         side[g].unfinished = true;
         at_least(side[g].most_groups, groups_offered);
         at_most(side[g].least_groups, groups_offered);
         at_most(side[g].least_views, views_held)
    :: else -> side[g].finished = true
    fi;
    side[g].waiting[me] = true;
    side[g].arrived++;
    if
    :: side[g].arrived == RANKS -> agree(g); clear_reduction(g)
    :: else
    fi
  }
}

/* Second all-reduce of a round, SUM over the slots' totals: the protocol depends on the rendezvous, not on the sums. */
inline contribute_totals(g) {
  d_step {
    side[g].waiting[me] = true;
    side[g].arrived++;
    if
    :: side[g].arrived == RANKS ->
         side[g].agreed_slots = 0; side[g].agreed_unfinished = false; side[g].agreed_finished = false;
         clear_reduction(g)
    :: else
    fi
  }
}
