#include "fake_data.h"

#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>

#include "base/error.h"
#include "base/ignore_index.h"
#include "base/rng.h"
#include "catch.h"
#include "data/loader/shared/shared_memory.h"

namespace odb {
namespace {

// Which views were tried before, by any process.
struct Tried {
  std::atomic<std::uint32_t> views[4096];
};

// A process waits uninterruptibly ("D") for its vfork to end; only SIGKILL ends that.
void wait_in_kernel(const struct timespec* time) {
  if (::vfork() != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (time == nullptr)
    for (;;)
      ::pause();
  ::nanosleep(time, nullptr);
  ::_exit(0);
}

class FakeBuilder final : public ViewBuilder {
 public:
  FakeBuilder(const FakeData& data, const SharedObject<Tried>& tried)
      : data_(data),
        tried_(tried),
        delays_(data.seed + static_cast<std::uint64_t>(::getpid()), RandomPurpose::tests) {}

  BuiltSample build(ViewId view, std::int64_t, Sample& sample) override {
    if (data_.delay_microseconds > 0)
      ::usleep(static_cast<useconds_t>(
          delays_.below(static_cast<std::uint64_t>(data_.delay_microseconds))));
    switch (data_.fate(view)) {
      case FakeData::Fate::bad:
        return {.left_out = LeftOutReason::bad_record, .problem = where(view, 0) + ": broken"};
      case FakeData::Fate::unsupervised:
        return {.left_out = LeftOutReason::no_supervised_token, .problem = ""};
      case FakeData::Fate::throws:
        throw DataError("{}: broken beyond repair", where(view, 0));
      case FakeData::Fate::crashes:
        ::raise(SIGSEGV);
        break;
      case FakeData::Fate::crashes_once:
        if (is_first(view)) ::raise(SIGSEGV);
        break;
      case FakeData::Fate::turns_bad:
        if (!is_first(view)) ::raise(SIGSEGV);
        break;
      case FakeData::Fate::turns_bad_twice:
        if (const auto tries = tried_->views[view].fetch_add(1); tries == 1 || tries == 2)
          ::raise(SIGSEGV);
        break;
      case FakeData::Fate::hangs:
        for (;;)
          ::pause();
      case FakeData::Fate::stops:
        ::raise(SIGSTOP);
        break;
      case FakeData::Fate::stops_once:
        if (is_first(view)) ::raise(SIGSTOP);
        break;
      case FakeData::Fate::waits_in_kernel:
        wait_in_kernel(nullptr);
        break;
      case FakeData::Fate::waits_in_kernel_once:
        if (const struct timespec time = {.tv_sec = 3, .tv_nsec = 0}; is_first(view))
          wait_in_kernel(&time);
        break;
      case FakeData::Fate::out_of_memory:
        throw std::bad_alloc();
      case FakeData::Fate::fine:
        break;
    }
    sample = data_.sample(view);
    return {};
  }

  std::string where(ViewId view, std::int64_t) override {
    return fmt::format("fake.jsonl:{}", view + 1);
  }

 private:
  bool is_first(ViewId view) { return tried_->views[view].fetch_add(1) == 0; }

  const FakeData& data_;
  const SharedObject<Tried>& tried_;
  Rng delays_;
};

}  // namespace

std::int32_t FakeData::length(ViewId view) const {
  Rng rng(seed, RandomPurpose::tests, 1, static_cast<std::uint64_t>(view));
  return static_cast<std::int32_t>(2 + rng.below(static_cast<std::uint64_t>(longest) - 1));
}

FakeData::Fate FakeData::fate(ViewId view) const {
  const auto found = fates.find(view);
  if (found != fates.end()) return found->second;
  Rng rng(seed, RandomPurpose::tests, 2, static_cast<std::uint64_t>(view));
  return rng.below(100) < static_cast<std::uint64_t>(unsupervised_percent) ? Fate::unsupervised
                                                                           : Fate::fine;
}

Sample FakeData::sample(ViewId view) const {
  Sample sample;
  const std::int32_t count = length(view);
  for (std::int32_t i = 0; i < count; ++i) {
    const auto token = static_cast<TokenId>((view * 131 + i * 7) % 1000 + 1);
    sample.tokens.push_back(token);
    sample.labels.push_back(i > 0 && (i + view) % 3 != 0 ? token : kIgnoreIndex);
    sample.supervised += sample.labels.back() == kIgnoreIndex ? 0 : 1;
  }
  if (sample.supervised == 0) {
    sample.labels.back() = sample.tokens.back();
    sample.supervised = 1;
  }
  return sample;
}

Prepared FakeData::prepare(ViewId view) const {
  switch (fate(view)) {
    case Fate::bad:
      return LeftOut{.view = view, .reason = LeftOutReason::bad_record};
    case Fate::unsupervised:
      return LeftOut{.view = view, .reason = LeftOutReason::no_supervised_token};
    case Fate::crashes:
    case Fate::hangs:
    case Fate::stops:
    case Fate::out_of_memory:
      return LeftOut{.view = view, .reason = LeftOutReason::crashed_worker};
    default:
      return Item{.view = view,
                  .length = length(view),
                  .supervised = static_cast<std::int32_t>(sample(view).supervised)};
  }
}

LengthTable FakeData::lengths() const {
  std::vector<std::int32_t> table;
  for (ViewId view = 0; view < size; ++view)
    table.push_back(fate(view) == Fate::fine ? length(view) : 0);
  return std::make_shared<const std::vector<std::int32_t>>(std::move(table));
}

ViewBuilderFactory fake_builder(const FakeData& data) {
  auto tried = std::make_shared<SharedObject<Tried>>("tried");
  auto kept = std::make_shared<FakeData>(data);
  return [tried, kept] { return std::make_unique<FakeBuilder>(*kept, *tried); };
}

LoaderSetup fake_loader(const FakeData& data, const BatchingOptions& options, int rank, int world) {
  LoaderSetup setup;
  setup.shape = {.rank = rank, .world = world, .seed = 5, .data_size = data.size};
  setup.batching = options;
  setup.depth = 3;
  setup.rules = {.skip_bad = true, .longest = data.longest};
  setup.builder = fake_builder(data);
  if (options.strategy != Strategy::odb && options.strategy != Strategy::standard)
    setup.lengths = [data](std::int64_t) { return data.lengths(); };
  return setup;
}

BatchingOptions small_options(Layout layout) {
  BatchingOptions options;
  options.l_max = 128;
  options.layout = layout;
  options.window = 32;
  options.round_groups = 4;
  options.batch_size = 3;
  options.accumulate = 3;
  return resolve(options, layout == Layout::automatic ? Layout::flat : layout);
}

Slot checked_slot(const BatchView& batch, const FakeData& data) {
  const SlotHeader& header = batch.header;
  Slot slot{.number = header.number,
            .round = header.round,
            .index_in_round = header.index_in_round,
            .kind = header.kind,
            .last_of_step = header.last_of_step,
            .over_budget = header.over_budget,
            .totals = header.totals};
  slot.left_out.assign(batch.left_out.begin(), batch.left_out.end());
  std::vector<Item> rows;
  bool right = true;
  std::size_t begin = 0;
  for (std::size_t row = 0; row < batch.views.size(); ++row) {
    const Sample sample = data.sample(batch.views[row]);
    const auto length = static_cast<std::size_t>(batch.offsets[row + 1] - batch.offsets[row]);
    const std::size_t width =
        header.layout == Layout::padded ? static_cast<std::size_t>(header.columns) : length;
    right = right && length == sample.tokens.size() && begin + width <= batch.ids.size();
    for (std::size_t i = 0; right && i < width; ++i) {
      right = batch.ids[begin + i] == (i < length ? sample.tokens[i] : 0) &&
              batch.labels[begin + i] == (i < length ? sample.labels[i] : kIgnoreIndex);
    }
    begin += width;
    rows.push_back({.view = batch.views[row],
                    .length = static_cast<std::int32_t>(length),
                    .supervised = static_cast<std::int32_t>(sample.supervised)});
  }
  INFO("slot " << header.number << " of round " << header.round);
  REQUIRE(right);
  REQUIRE(begin == batch.ids.size());
  slot.group = make_group(rows);
  return slot;
}

std::vector<std::vector<Slot>> pure_run(const FakeData& data, const BatchingOptions& options,
                                        int world, std::int64_t epoch_number) {
  const Epoch epoch = make_epoch(options, 5, data.size, epoch_number, data.lengths());
  std::vector<Rounds> ranks;
  for (int rank = 0; rank < world; ++rank) {
    const RoundStart start = start_of_epoch(epoch, rank, world);
    ranks.emplace_back(RunShape{.rank = rank, .world = world, .seed = 5, .data_size = data.size},
                       options, start, make_source(epoch, start));
  }
  std::vector<std::vector<Slot>> all(static_cast<std::size_t>(world));
  const Prepare prepare = [&](ViewId view) { return data.prepare(view); };
  while (!ranks.front().ended()) {
    const auto round = lock_step_round(ranks, prepare);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      all[rank].insert(all[rank].end(), round[rank].begin(), round[rank].end());
  }
  return all;
}

}  // namespace odb
