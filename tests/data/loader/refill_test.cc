// Refilling a window in one process: limits on left-out rows, and how often a sample is tried.
#include "data/loader/refill.h"

#include <memory>

#include "catch.h"
#include "data/loader/samples/inline_samples.h"
#include "data/loader/shared/shared_memory.h"
#include "test_trainer.h"

namespace odb {
namespace {

const GivenUp kNever = [] { return false; };

Rounds first_rounds(const LoaderSetup& setup) {
  const Epoch epoch = setup.epoch(0);
  const RoundStart start = start_of_epoch(epoch, 0, 1);
  return {setup.shape, setup.batching, start, make_source(epoch, start)};
}

}  // namespace

TEST_CASE("refill: too many rows left out in one round end the run") {
  FakeData data{.size = 40, .unsupervised_percent = 0};
  for (ViewId view = 0; view < 30; ++view)
    data.fates[view] = FakeData::Fate::bad;
  const LoaderSetup setup = fake_loader(data, small_options());
  const std::unique_ptr<ViewBuilder> builder = setup.builder();
  SharedObject<LoaderControl> control("control");
  for (const std::int64_t room : {29, 30}) {
    SampleStore store;
    InlineSamples stream(*builder, control->builders[0], setup.rules);
    Refill refill(stream, store, *control, room);
    Rounds rounds = first_rounds(setup);
    refill.restart({});
    const Refill::Result result = refill.fill(rounds, kNever);
    if (room == 30) {
      CHECK(result.ending == Refill::Ending::filled);
      CHECK(rounds.refill_record().left_out.size() == 30);
      continue;
    }
    CHECK(result.ending == Refill::Ending::failed);
    CHECK(result.failure.code == ExitCode::data);
    CHECK(result.failure.message ==
          "30 samples were left out in one round, at most 29 are possible: almost no sample of the "
          "data can be trained; check the data with odb-trainer inspect data");
  }
}

TEST_CASE("refill: a sample that differs from the one of its group is refused") {
  const FakeData data{.size = 40, .unsupervised_percent = 0};
  const LoaderSetup setup = fake_loader(data, small_options());
  const std::unique_ptr<ViewBuilder> builder = setup.builder();
  SharedObject<LoaderControl> control("control");
  SampleStore store;
  InlineSamples stream(*builder, control->builders[0], setup.rules);
  Refill refill(stream, store, *control, 40);
  const auto restore = [&](Item item) {
    refill.restart({});
    return refill.restore(std::vector{item}, 0, kNever);
  };
  const Item right = std::get<Item>(data.prepare(7));
  CHECK(restore(right));
  CHECK(store.size() == 1);
  Item other = right;
  ++other.length;
  CHECK_THROWS_WITH(restore(other), Catch::Contains("sample 7 had ") &&
                                        Catch::Contains("the data has changed during the run"));
  other = right;
  --other.supervised;
  CHECK_THROWS_AS(restore(other), DataError);
}

TEST_CASE("refill: only a sample that was good before is tried a third time, after a pause") {
  SharedObject<BuilderState> state("state");
  state->suspect = 8;
  state->suspect_epoch = 1;
  state->crashes = 2;
  const ViewRequest fresh{.view = 7, .epoch = 1};
  const ViewRequest good_before{.view = 7, .epoch = 1, .max_crashes = kCrashesOfOnceGoodSample};
  CHECK(pause_before(*state, fresh).count() == 0);
  CHECK(pause_before(*state, good_before).count() == 2000);
  CHECK(pause_before(*state, {.view = 6, .epoch = 1, .max_crashes = 3}).count() == 0);
  CHECK(pause_before(*state, {.view = 7, .epoch = 0, .max_crashes = 3}).count() == 0);
  state->crashes = 3;
  CHECK(pause_before(*state, good_before).count() == 0);

  const FakeData data{.size = 40};
  const LoaderSetup setup = fake_loader(data, small_options());
  const std::unique_ptr<ViewBuilder> builder = setup.builder();
  Sample sample;
  state->crashes = 2;
  CHECK(build_view(*builder, *state, setup.rules, fresh, sample).kind == AnswerKind::left_out);
  CHECK(build_view(*builder, *state, setup.rules, good_before, sample).kind == AnswerKind::sample);
}

}  // namespace odb
