/* The collate process of one rank, with the fork server that starts it again.
 *
 * Life: join the newest generation, replay from the agreed round, then round after round agree on T and publish T
 * slots, at last the end slot. It may die between any two steps; shared memory is all that the next life knows. Where
 * it waits, it also looks at the generation counter, and joins the newest one when its own is older.
 *
 * What one atomic step holds is either seen by nobody until the step's end, or part of one contribution to an
 * all-reduce that others may still see fail. So a death inside a step would look to others like one before or after.
 */

/* Saves where a round starts before anything of it can be seen by others. A replay finds its entry saved. */
inline save_start() {
  d_step {
    if
    :: round > shm[me].newest ->
         START(me, round).round = round;
         START(me, round).slots = slots;
         START(me, round).drawn = drawn;
         START(me, round).groups = 0;
         START(me, round).emits = 0;
         START(me, round).views = 0;
         START(me, round).left_out = 0;
         START(me, round).sealed = 0;
         shm[me].newest = round
    :: else ->
         assert(START(me, round).round == round);
         ASSERT_EQUAL_REPLAY(START(me, round).slots == slots && START(me, round).drawn == drawn)
    fi
  }
}

/* Takes the round agreed by all as the place to go on from. */
inline load_start() {
  d_step {
#ifdef REPLAY_OWN_POSITION
    shm[me].published = shm[me].released;
    round = shm[me].newest;
    do
    :: START(me, round).slots > shm[me].released -> round--
    :: else -> break
    od;
#else
    round = side[generation].replay_from;
    assert(shm[me].newest <= round + 1);            /* newest saved rounds differ by at most one */
#endif
    assert(START(me, round).round == round);        /* the saved starts suffice to replay */
    slots = START(me, round).slots;
    drawn = START(me, round).drawn
  }
}

/* What this rank offers: its groups, any number that its views allow. */
inline form_groups() {
  held = HELD(me, drawn) - START(me, round).left_out;
  if
  :: held > 0 && START(me, round).groups == 0 -> select_up_to(START(me, round).groups, 1, held)
  :: else
  fi
}

/* Settles what the round emits, from what all agreed on. */
inline plan_round() {
#ifdef NON_JOIN
  ending = side[generation].agreed_finished;
#else
  ending = !side[generation].agreed_unfinished;
#endif
  if
  :: ending -> to_emit = (slots % MICRO_STEPS == 0 -> 1 : 2)   /* a closing slot if a step is open; the end slot */
  :: else -> to_emit = side[generation].agreed_slots
  fi;
  if
  :: !ending && held > 0 ->
       assert(1 <= to_emit && to_emit <= held);           /* an unfinished rank fills all T slots */
#ifndef ALIGN_PAPER
       assert(to_emit <= START(me, round).groups);        /* balanced: nothing is split */
#endif
#ifdef BAD_VIEWS
       choose_anew();
#else
       START(me, round).groups = to_emit;                 /* a replay agrees on the same T either way: fewer states */
#endif
       if
       :: START(me, round).views == 0 -> select_up_to(START(me, round).views, to_emit, held)
       :: else
       fi;
       spare = START(me, round).views - to_emit
  :: else
  fi
}

/* The next slot, as a function of the round's state. */
#define NEXT_KIND (ending && to_emit == 1 -> END_SLOT : (!ending && held > 0 -> VIEWS_SLOT : IDLE_SLOT))
#define NEXT_VIEWS ((!ending && held > 0 -> 1 + spare : 0) + (IS_FIRST -> LEFT_OUT * START(me, round).left_out : 0))
#define NEXT_TOTALS (IS_FIRST -> totals : 0)
#define IS_FIRST (slots == START(me, round).slots)
#define NEXT_LAST_OF_STEP (ending -> to_emit == 2 : (slots + 1) % MICRO_STEPS == 0)

inline publish(q) {
  d_step {
    ARENA(me, q).kind = NEXT_KIND;
    ARENA(me, q).round = round;
    ARENA(me, q).first_view = drawn;
    ARENA(me, q).views = NEXT_VIEWS;
    ARENA(me, q).totals = NEXT_TOTALS;
    ARENA(me, q).last_of_step = NEXT_LAST_OF_STEP;
    shm[me].published = q
  }
}

/* A slot of an earlier life that is still in the arena must be the one that the replay forms. */
inline check_replayed_slot(q) {
  ASSERT_EQUAL_REPLAY(q <= shm[me].released ||
    (ARENA(me, q).kind == NEXT_KIND && ARENA(me, q).round == round && ARENA(me, q).first_view == drawn &&
     ARENA(me, q).views == NEXT_VIEWS && ARENA(me, q).totals == NEXT_TOTALS &&
     ARENA(me, q).last_of_step == NEXT_LAST_OF_STEP))
}

inline count_slot() {
  d_step {
    drawn = drawn + NEXT_VIEWS;
    slots++;
    spare = 0;
    to_emit--
  }
}

inline forget() {
  round = 0; slots = 0; drawn = 0; held = 0; to_emit = 0; spare = 0; ending = false; generation = 0
#ifdef BAD_VIEWS
  ; totals = 0
#endif
}

proctype Collate(byte me) {
  byte generation;            /* joined */
  byte round, slots, drawn;   /* where it stands: the round, slots and views emitted before */
  byte held;                  /* s: views not emitted yet. All of them: a smaller window would only lower T */
  byte to_emit;               /* slots of this round: T at first */
  byte spare;                 /* views beyond one per slot: they travel with the round's first slot */
  byte totals;                /* what the round's slots hold on all ranks */
  bool ending;

life:
  {
    skip;
join:
    atomic {
#ifdef BAD_VIEWS
      if
      :: shm[me].failed -> goto failed
      :: else
      fi;
#endif
      forget();
      generation = generation_counter;
#ifndef JOIN_BEFORE_RECORD
      shm[me].generation = generation
#endif
    }
    join_side_group(generation);
#ifdef JOIN_BEFORE_RECORD
    shm[me].generation = generation;
#endif
    atomic {
      if
      :: side[generation].joined == RANKS -> load_start()
      :: FAILED(generation) -> raise_generation(generation); goto join
      fi;

next_round:
#ifdef STUCK_DATA
      if
      :: true
      :: me == RANKS - 1 -> SUPERSEDED(generation); goto join   /* samples never come */
      fi;
#endif
      save_start();
#ifdef BAD_VIEWS
      refill();
#endif
      form_groups();
      contribute_offer(generation, round, held, START(me, round).groups)
    }
    atomic {
      if
      :: !side[generation].waiting[me]
      :: FAILED(generation) -> raise_generation(generation); goto join
      fi;
#ifdef BAD_VIEWS
      forget_round_before();
#endif
      plan_round();
      if
      :: ending ->
#if defined(BAD_VIEWS) && !defined(NO_END_CHECK)
           check_round();
#endif
           goto emit
      :: else -> contribute_totals(generation, ROUND_TOTALS(me, round))
      fi
    }
    atomic {
      if
      :: !side[generation].waiting[me]
      :: FAILED(generation) -> raise_generation(generation); goto join
      fi;
#ifdef BAD_VIEWS
      check_round();
      seal_round();
    }
    atomic {
      skip;
#endif

emit:
      if
#ifdef REPUBLISH
      :: shm[me].published < shm[me].released + DEPTH -> publish(shm[me].published + 1)
#else
      :: slots < shm[me].published -> check_replayed_slot(slots + 1)
      :: slots >= shm[me].published && slots < shm[me].released + DEPTH -> publish(slots + 1)
#endif
#ifndef DEAF_WHEN_FULL
      :: SUPERSEDED(generation) -> goto join
#endif
      fi;
      count_slot()
    }
    atomic {
      if
      :: to_emit > 0 -> goto emit
      :: to_emit == 0 && !ending ->
#ifdef SEAL_AFTER_PUBLISH
           START(me, round).sealed = totals;
#endif
#ifdef BAD_VIEWS
           totals = 0;
#endif
           round++; goto next_round
      :: to_emit == 0 && ending
      fi
    }
#ifdef EXIT_AFTER_END
    side[generation].closed = true;
    goto gone;
#endif
    SUPERSEDED(generation) -> goto join               /* stays until its trainer leaves */
#ifdef BAD_VIEWS
    ;
failed:
    shm[me].failed = true;
    false                                             /* its trainer ends the run */
#endif
  } unless {
    if
    :: trainer_left[me] -> d_step { side[shm[me].generation].closed = true; forget() } goto gone
#if COLLATE_DEATHS > 0
    :: kill ? eval(me) ->
         d_step { side[shm[me].generation].closed = true; forget(); generation = shm[me].generation }
         raise_generation(generation);              /* the fork server reaps it, reports it and forks the next */
         goto life
#endif
    fi
  }
gone: skip
}
