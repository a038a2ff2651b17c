// An invented data set: every sample is a function of its view, so that a reader can check a batch.
// Tests choose what goes wrong with each view.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "batching/lock_step.h"
#include "batching/slot.h"
#include "data/loader/loader.h"
#include "data/loader/shared/arena.h"

namespace odb {

struct FakeData {
  enum class Fate {
    fine,
    bad,
    unsupervised,
    throws,
    crashes,
    crashes_once,
    hangs,
    stops,  // its process, as SIGSTOP does
    stops_once,
    waits_in_kernel,       // for ever, as a process does whose storage does not answer
    waits_in_kernel_once,  // for 3 s
    turns_bad,             // crashes its process at every try but the first
    turns_bad_twice,       // at the second and the third try
    out_of_memory
  };

  std::int64_t size = 300;
  std::uint64_t seed = 1;
  std::int64_t longest = 60;
  int unsupervised_percent = 5;
  std::map<ViewId, Fate> fates;
  int delay_microseconds = 0;  // maximum of the random delay before each sample

  std::int32_t length(ViewId view) const;
  Fate fate(ViewId view) const;
  Sample sample(ViewId view) const;
  // What batching receives for the view; crashed ones are left out as such.
  Prepared prepare(ViewId view) const;
  LengthTable lengths() const;
};

// Prepares the samples. `..._once`: in the first process that tries it.
ViewBuilderFactory fake_builder(const FakeData& data);

// A loader over the data: rank `rank` of `world`. If `world` > 1, the caller sets
// `setup.membership`.
LoaderSetup fake_loader(const FakeData& data, const BatchingOptions& options, int rank = 0,
                        int world = 1);

BatchingOptions small_options(Layout layout = Layout::flat);

// Converts a batch back to the slot of batching. Fails the test when ids, labels or padding are not
// those of the data.
Slot checked_slot(const BatchView& batch, const FakeData& data);

// All slots of one epoch of every rank, computed without processes.
std::vector<std::vector<Slot>> pure_run(const FakeData& data, const BatchingOptions& options,
                                        int world, std::int64_t epoch = 0);

}  // namespace odb
