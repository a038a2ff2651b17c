/* The trainer of one rank.
 *
 * It takes slot after slot, in lock step with the other ranks. Before a slot's first device collective all ranks vote
 * in the control all-reduce {stop asked, slot not ready, its totals}: nobody enters a device collective that another
 * cannot, a stop is heard while data is stuck, and slots that differ end the run on all ranks. A step's gradient is
 * reduced in its last slot. It takes no part in recovery.
 */

typedef Control {
  byte arrived;
  bool waiting[RANKS];
  bool stop, not_ready;                /* being reduced */
  bool agreed_stop, agreed_not_ready;  /* results */
  byte totals;                           /* of the slot, of the first rank that votes */
  bool differ, agreed_differ;            /* does another rank have others */
};
Control control;

typedef Device {                         /* the gradient all-reduce */
  byte arrived, slot;
  bool waiting[RANKS];
};
Device device;

byte trained[RANKS];                     /* views */
byte finished_slot[RANKS], finished_round[RANKS];    /* of the last finished step, as in a checkpoint */
byte taken_slot, taken_round;            /* by the rank that is ahead */
bool taken_end;
byte departures, last_slot, last_round;  /* the place where the trainers leave */
bool vanished;

#if RANKS == 2
#define ALL_READY (READY(0) && READY(1))
#else
#define ALL_READY (READY(0) && READY(1) && READY(2))
#endif
#define HEAD ARENA(me, shm[me].released + 1)

inline vote_on_totals() {
#if defined(BAD_VIEWS) && !defined(NO_VOTE_CHECK)
  if
  :: control.arrived == 0 -> control.totals = HEAD.totals
  :: else -> control.differ = control.differ || HEAD.totals != control.totals
  fi;
  if
  :: control.arrived == RANKS - 1 ->
       control.agreed_differ = control.differ && !control.not_ready;
       control.totals = 0;
       control.differ = false
  :: else
  fi
#else
  skip
#endif
}

inline vote() {
  d_step {
    control.stop = control.stop || (me == 0 && stop_asked);
    control.not_ready = control.not_ready || !READY(me);
    control.waiting[me] = true;
    vote_on_totals();
    control.arrived++;
    if
    :: control.arrived == RANKS ->
         control.agreed_stop = control.stop;
         control.agreed_not_ready = control.not_ready;
         control.stop = false;
         control.not_ready = false;
         control.arrived = 0;
         for (member : 0 .. RANKS - 1) { control.waiting[member] = false }
    :: else
    fi
  }
}

/* Lock step: what one rank takes as its next slot, all take. */
inline check_taken_slot() {
  d_step {
    if
    :: shm[me].released == taken_slot ->
         taken_slot++; taken_round = HEAD.round; taken_end = (HEAD.kind == END_SLOT);
         for (member : 0 .. RANKS - 1) {
           assert(ARENA(member, taken_slot).totals == HEAD.totals)          /* equal denominators of the loss */
         }
    :: else ->
         assert(shm[me].released + 1 == taken_slot);                        /* equal slot numbers */
         assert(HEAD.round == taken_round && (HEAD.kind == END_SLOT) == taken_end)
    fi
  }
}

inline enter_gradient_reduction() {
  d_step {
    if
    :: device.arrived == 0 -> device.slot = shm[me].released + 1
    :: else -> assert(device.slot == shm[me].released + 1)                  /* device collectives match */
    fi;
    device.waiting[me] = true;
    device.arrived++;
    if
    :: device.arrived == RANKS ->
         device.arrived = 0;
         device.slot = 0;
         for (member : 0 .. RANKS - 1) { device.waiting[member] = false }
    :: else
    fi
  }
}

/* A checkpoint of this step names the start of the slot's round: it must still be there, whatever collate did since. */
inline finish_step() {
  d_step {
    ASSERT_EQUAL_REPLAY(shm[me].newest <= HEAD.round + DEPTH);
    ASSERT_EQUAL_REPLAY(START(me, HEAD.round).round == HEAD.round);         /* the saved starts suffice, here as well */
    finished_slot[me] = shm[me].released + 1;
    finished_round[me] = HEAD.round
  }
}

/* Coverage: views are numbered in the order of emission, so each slot must go on where the one before stopped. */
inline release() {
  d_step {
    assert(HEAD.first_view == trained[me]);
    trained[me] = trained[me] + HEAD.views;
    HEAD.kind = 0; HEAD.round = 0; HEAD.first_view = 0; HEAD.views = 0; HEAD.totals = 0;
    HEAD.last_of_step = false;
    shm[me].released++
  }
}

inline depart() {
  d_step {
#ifndef NON_JOIN
    assert(control.agreed_stop || HELD(me, trained[me] + HEAD.views) == 0); /* coverage: no view is missing */
#endif
    assert(control.agreed_stop || finished_slot[me] == shm[me].released);   /* steps never cross epochs */
    if
    :: departures == 0 -> last_slot = finished_slot[me]; last_round = finished_round[me]
    :: else -> assert(last_slot == finished_slot[me] && last_round == finished_round[me])  /* one checkpoint */
    fi;
#ifdef BAD_VIEWS
    for (member : 0 .. RANKS - 1) { assert(control.agreed_stop || !shm[member].failed) } /* all end well or none does */
#endif
    departures++;
    trainer_left[me] = true
  }
}

proctype Trainer(byte me) {
#ifdef BAD_VIEWS
  byte peer;
#endif
  {
    skip;
next_slot:
#ifdef CONTROL_AFTER_SLOT
    READY(me);
#endif
#ifdef NO_END_BARRIER
    if
    :: HEAD.kind == END_SLOT -> goto leave
    :: else
    fi;
#endif
    vote();
    atomic {
      !control.waiting[me];
#ifdef FAULT_BY_CONTROL
      reported = generation_counter;
#endif
      if
      :: control.agreed_stop -> goto leave
      :: !control.agreed_stop && control.agreed_not_ready ->
#ifndef BUSY_VOTES
           ALL_READY || stop_asked;    /* votes in between would only repeat the answer */
#endif
           goto next_slot
#ifdef BAD_VIEWS
      :: control.agreed_differ && !control.agreed_stop -> trainer_left[me] = true; goto gone
#endif
      :: else
      fi;
      check_taken_slot();
      if
      :: HEAD.kind == END_SLOT -> goto leave                                /* the vote was the barrier at the end */
      :: HEAD.kind != END_SLOT && HEAD.last_of_step ->
           enter_gradient_reduction();
           !device.waiting[me];
           finish_step()
      :: else
      fi;
      release();
      goto next_slot
    }
leave:
    depart()
  }
#if defined(TRAINER_DEATH) || defined(BAD_VIEWS)
  unless {
    if
#ifdef TRAINER_DEATH
    :: me == 0 && vanish -> d_step { vanished = true; trainer_left[me] = true }
#endif
#ifdef BAD_VIEWS
    :: shm[me].failed ->
         for (peer : 0 .. RANKS - 1) { peer_lost[peer] = true }             /* exit code 3, on all ranks */
         trainer_left[me] = true
#endif
    :: peer_lost[me] -> trainer_left[me] = true                             /* exit code 5, or that of the peer */
    fi
  }
#endif
#ifdef BAD_VIEWS
  ;
gone: skip
#endif
}
