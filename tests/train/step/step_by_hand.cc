#include "step_by_hand.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"
#include "data/loader/shared/arena.h"

namespace odb {
namespace {

constexpr std::int32_t kIgnored = -100;

std::int32_t number_below(Rng& rng, std::int32_t bound) {
  return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(bound)));
}

bool is_idle(Idle idle, Rng& rng, bool last, int rank, int chosen) {
  switch (idle) {
    case Idle::nobody:
      return false;
    case Idle::some:
      return rng.below(3) == 0;
    case Idle::one_rank:
      return rank == chosen;
    case Idle::all_but_one_last:
      return last && rank != chosen;
    case Idle::closing:
      return last;
  }
  throw InternalError("no such kind of idle rank");
}

}  // namespace

std::int64_t HandSample::supervised() const {
  return std::ranges::count_if(labels, [](std::int32_t label) { return label != kIgnored; });
}

std::vector<HandSample> random_samples(std::uint64_t seed, std::size_t count,
                                       std::int32_t vocabulary) {
  Rng rng(seed, RandomPurpose::tests);
  std::vector<HandSample> samples(count);
  for (HandSample& sample : samples) {
    const auto length = 2 + rng.below(13);
    const bool unsupervised = rng.below(6) == 0;
    for (std::uint64_t i = 0; i < length; ++i) {
      sample.tokens.push_back(number_below(rng, vocabulary));
      const bool counts = i > 0 && !unsupervised && (i + 1 == length || rng.below(2) == 0);
      sample.labels.push_back(counts ? sample.tokens.back() : kIgnored);
    }
  }
  return samples;
}

std::int64_t supervised_in(const std::vector<HandSample>& samples, const HandGroup& group) {
  std::int64_t count = 0;
  for (const std::size_t sample : group)
    count += samples[sample].supervised();
  return count;
}

SlotTotals totals_of(const std::vector<HandSample>& samples, const HandStep& step) {
  SlotTotals totals;
  for (const auto& micro_step : step)
    for (const HandGroup& group : micro_step) {
      const std::int64_t supervised = supervised_in(samples, group);
      totals.supervised += supervised;
      totals.supervised_groups += supervised > 0 ? 1 : 0;
      totals.samples += static_cast<std::int64_t>(group.size());
      for (const std::size_t sample : group)
        totals.tokens += samples[sample].length();
    }
  return totals;
}

std::optional<MicroBatch> batch_of(const std::vector<HandSample>& samples, const HandGroup& group,
                                   Layout layout, LossNorm norm) {
  if (group.empty()) return std::nullopt;
  std::int64_t longest = 0;
  for (const std::size_t sample : group)
    longest = std::max(longest, samples[sample].length());
  const bool pads = layout == Layout::padded;
  std::vector<TokenId> ids;
  std::vector<std::int32_t> labels;
  std::vector<std::int32_t> offsets = {0};
  std::vector<ViewId> views;
  for (const std::size_t sample : group) {
    const HandSample& one = samples[sample];
    ids.insert(ids.end(), one.tokens.begin(), one.tokens.end());
    labels.insert(labels.end(), one.labels.begin(), one.labels.end());
    offsets.push_back(offsets.back() + static_cast<std::int32_t>(one.length()));
    views.push_back(static_cast<ViewId>(sample));
    if (!pads) continue;
    const auto whole = views.size() * static_cast<std::size_t>(longest);
    ids.resize(whole, 0);
    labels.resize(whole, kIgnored);
  }
  BatchView view;
  view.header = {.kind = SlotKind::data,
                 .layout = layout,
                 .rows = static_cast<std::int64_t>(group.size()),
                 .columns = pads ? longest : 0,
                 .tokens = offsets.back(),
                 .supervised = supervised_in(samples, group),
                 .padded_tokens = static_cast<std::int64_t>(ids.size())};
  view.ids = ids;
  view.labels = labels;
  view.offsets = offsets;
  view.views = views;
  return MicroBatchBuilder(torch::kCPU, norm).build(view);
}

HandStep random_step(std::uint64_t seed, std::size_t samples, int world, int micro_steps,
                     Idle idle) {
  Rng rng(seed, RandomPurpose::tests, 1);
  HandStep step(static_cast<std::size_t>(micro_steps),
                std::vector<HandGroup>(static_cast<std::size_t>(world)));
  std::vector<HandGroup*> busy;
  const auto chosen = static_cast<int>(rng.below(static_cast<std::uint64_t>(world)));
  for (int micro_step = 0; micro_step < micro_steps; ++micro_step)
    for (int rank = 0; rank < world; ++rank)
      if (!is_idle(idle, rng, micro_step + 1 == micro_steps, rank, chosen))
        busy.push_back(&step[static_cast<std::size_t>(micro_step)][static_cast<std::size_t>(rank)]);
  if (busy.empty()) busy.push_back(&step.front().front());
  ODB_CHECK_GE(samples, busy.size());
  std::vector<std::size_t> order(samples);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order), rng);
  for (std::size_t i = 0; i < samples; ++i) {
    HandGroup& group = i < busy.size() ? *busy[i] : *busy[rng.below(busy.size())];
    group.push_back(order[i]);
  }
  return step;
}

}  // namespace odb
