/* Views that turn bad: a sample that was good in one life of a collate makes its worker crash in the next, for example.
 *
 * A replay without such a view would form other groups than those in the slots that are published already. So collate
 * seals a round: it stores a checksum of the totals before it publishes the round's first slot. A round that any rank
 * sealed is replayed with the same views, or the run ends on all ranks. In any other round the view is left out.
 *
 * It may be any view that the rank has not emitted. A replay of a sealed round may fail even if the view is in none of
 * the slots that are still to be published, or pass and find the view in a later round.
 */
#define LEFT_OUT 16           /* what a view that is left out adds to a count of views: no other count equals it */
#define HELD(rank, count) (shard[rank] - (count) % LEFT_OUT - (count) / LEFT_OUT)

#ifndef BAD_VIEWS

#define ROUND_TOTALS(rank, n) 0

#else

#define ROUND_TOTALS(rank, n) (START(rank, n).views + LEFT_OUT * START(rank, n).left_out)

byte turned_bad;

#ifdef OWN_SEAL_ONLY
#define SEALED(n) (START(me, n).sealed != 0)
#else
#define SEALED(n) ((n) < side[generation].sealed_rounds)
#endif

/* Fills the window. A replay fills it with the views of the saved window, each of which may have turned bad since. */
inline refill() {
  if
  :: turned_bad < BAD_VIEWS && HELD(me, drawn) > START(me, round).left_out ->
       turned_bad++;
#ifndef FORM_ANEW
       if
       :: SEALED(round) -> goto failed
       :: else
       fi;
#endif
       START(me, round).left_out++;
       START(me, round).groups = 0;                   /* it is another window: its groups are formed anew */
       START(me, round).emits = 0;
       START(me, round).views = 0
  :: true
  fi
}

/* T may be another one than in an earlier life: then the views that are emitted are chosen anew. */
inline choose_anew() {
  d_step {
    if
    :: START(me, round).emits != to_emit -> START(me, round).emits = to_emit; START(me, round).views = 0
    :: else
    fi
  }
}

/* The round's totals are known now: 0 if it ends the epoch. A sealed round must have had the same ones. */
inline check_round() {
  totals = side[generation].agreed_totals;
#ifndef NO_ROUND_CHECK
  if
  :: START(me, round).sealed != 0 && START(me, round).sealed != totals -> goto failed
  :: else
  fi
#endif
}

/* The seal is what the next life sees of this one before any slot. */
inline seal_round() {
#ifndef SEAL_AFTER_PUBLISH
  START(me, round).sealed = totals;
#endif
#ifndef FORM_ANEW
  at_most(START(me, round).groups, to_emit)      /* a replay agrees on the same T either way: fewer states */
#endif
}

/* All ranks have entered this round, so none will replay the previous one: fewer states. */
inline forget_round_before() {
  d_step {
    if
    :: round > 0 ->
         START(me, round - 1).groups = 0;
         START(me, round - 1).emits = 0;
         START(me, round - 1).views = 0;
         START(me, round - 1).left_out = 0;
         START(me, round - 1).sealed = 0
    :: else
    fi
  }
}

#endif
