/* The store's generation counter and the collates' side groups, one per generation.
 *
 * An all-reduce has two halves: contribute, where the last rank to come completes it for all, and wait. It may complete
 * for one rank and fail for another, as with real sockets: whoever waits may take either whenever both are possible.
 */

/* The first one, and one more for each lost member: by death, or by leaving while others still communicate. */
#define GENERATIONS (1 + COLLATE_DEATHS + RANKS - 1)

byte generation_counter;                  /* in the store */
#ifdef FAULT_BY_CONTROL
byte reported;                                /* what the last control all-reduce said of it */
#endif

typedef SideGroup {
  byte joined;
  byte replay_from;                       /* MIN of the newest saved rounds of those who joined */
  byte sealed_rounds;                     /* MAX of the rounds that those who joined sealed */
  bool closed;                            /* a member's connections are gone */
  byte arrived;                           /* the all-reduce in progress: how many contributed, and who waits for it */
  bool waiting[RANKS];
  byte round;                             /* of those who contributed */
  byte max_groups, min_groups, min_views;              /* being reduced, over the ranks that hold views */
  bool unfinished, finished;                                /* being reduced: does any rank hold views, is any dry */
  byte totals;                                              /* being reduced */
  byte agreed_slots, agreed_totals;                         /* results: T, and the totals of its slots */
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
  side[g].max_groups = 0;
  side[g].min_groups = 255;
  side[g].min_views = 255;
  side[g].unfinished = false;
  side[g].finished = false;
  side[g].totals = 0;
  for (member : 0 .. RANKS - 1) { side[g].waiting[member] = false }
}

/* A generation without members is as good as new: fewer states. */
inline clear_side_group(g) {
  side[g].joined = 0;
  side[g].replay_from = 255;
  side[g].sealed_rounds = 0;
  side[g].closed = false;
  side[g].agreed_slots = 0;
  side[g].agreed_totals = 0;
  side[g].agreed_unfinished = false;
  side[g].agreed_finished = false;
  clear_reduction(g)
}
hidden byte member, old;                  /* only to count in loops */

inline join_side_group(g) {
  d_step {
    side[g].joined++;
    at_most(side[g].replay_from, shm[me].newest);
#ifdef BAD_VIEWS
    at_least(side[g].sealed_rounds, shm[me].newest + (START(me, shm[me].newest).sealed -> 1 : 0));
#endif
    if
    :: side[g].joined == RANKS -> for (old : 0 .. g - 1) { clear_side_group(old) }
    :: else
    fi
  }
}

/* A fault of generation g was seen, by a peer or by the dead collate's fork server. One of them wins. */
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

/* T = max(1, min(max g, min s of the unfinished, R)); balanced caps it by the least g of the unfinished, too. */
inline agree(g) {
  side[g].agreed_slots = side[g].max_groups;
#ifndef ALIGN_PAPER
  at_most(side[g].agreed_slots, side[g].min_groups);
#endif
#ifndef NO_VIEW_CAP
  at_most(side[g].agreed_slots, side[g].min_views);
#endif
  at_most(side[g].agreed_slots, ROUND_GROUPS);
  at_least(side[g].agreed_slots, 1);
  side[g].agreed_totals = 0;
  side[g].agreed_unfinished = side[g].unfinished;
  side[g].agreed_finished = side[g].finished
}

/* First all-reduce of a round, MAX over {g, -g, -s, unfinished, finished}: who holds views offers groups of them. */
inline contribute_offer(g, at_round, views_held, groups_offered) {
  d_step {
    if
    :: side[g].arrived == 0 -> side[g].round = at_round
    :: else -> assert(side[g].round == at_round)      /* collates in lock step: all in the same round */
    fi;
    if
    :: views_held > 0 ->
         side[g].unfinished = true;
         at_least(side[g].max_groups, groups_offered);
         at_most(side[g].min_groups, groups_offered);
         at_most(side[g].min_views, views_held)
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

/* Second all-reduce of a round, SUM over the slots' totals. The sums matter only with views that may turn bad. */
inline contribute_totals(g, of_own_slots) {
  d_step {
    side[g].totals = side[g].totals + of_own_slots;
    side[g].waiting[me] = true;
    side[g].arrived++;
    if
    :: side[g].arrived == RANKS ->
         side[g].agreed_slots = 0; side[g].agreed_unfinished = false; side[g].agreed_finished = false;
         side[g].agreed_totals = side[g].totals;
         clear_reduction(g)
    :: else
    fi
  }
}
