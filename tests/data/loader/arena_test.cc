// The arena and its slots: capacity, order of publishing and releasing, both layouts.
#include "data/loader/shared/arena.h"

#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/ignore_index.h"
#include "catch.h"
#include "data/loader/samples/sample_store.h"
#include "data/loader/slot_writer.h"

namespace odb {
namespace {

constexpr ArenaShape kShape{.slots = 2, .padded_tokens = 12, .left_out = 3};

// Sample `view` has tokens 100 * view + 0, 1, 2, ...; labels are the same except for the first one.
void put(SampleStore& store, ViewId view, std::int32_t length) {
  std::vector<TokenId> ids(static_cast<std::size_t>(length));
  std::iota(ids.begin(), ids.end(), static_cast<TokenId>(100 * view));
  std::vector<std::int32_t> labels = ids;
  labels[0] = kIgnoreIndex;
  store.put(view, ids, labels);
}

Slot data_slot(SampleStore& store, const std::vector<Item>& rows) {
  Slot slot{.number = 7, .round = 3, .index_in_round = 0, .kind = SlotKind::data};
  slot.group = make_group(rows);
  for (const Item& item : rows)
    put(store, item.view, item.length);
  return slot;
}

template <typename T>
std::vector<std::remove_const_t<T>> copy(std::span<T> values) {
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("arena: a strategy's batches fit, also padded rows and long samples") {
  BatchingOptions options;
  options.l_max = 100;
  options.pad_multiple = 8;
  const auto padded_tokens = [&](Strategy strategy, Layout layout, std::int64_t longest) {
    options.strategy = strategy;
    options.layout = layout;
    options.batch_size = 5;
    options.grouping = Grouping::automatic;
    return max_padded_tokens(resolve(options, Layout::flat), longest);
  };
  CHECK(padded_tokens(Strategy::odb, Layout::flat, 50) == 100);
  CHECK(padded_tokens(Strategy::odb, Layout::flat, 150) == 150);
  CHECK(padded_tokens(Strategy::odb, Layout::padded, 150) == 152);
  CHECK(padded_tokens(Strategy::standard, Layout::flat, 150) == 750);
  CHECK(padded_tokens(Strategy::sorted, Layout::padded, 150) == 760);
  CHECK(padded_tokens(Strategy::packing, Layout::flat, 50) == 100);
}

TEST_CASE("arena: slots are published and released in order, at most D ahead") {
  Arena arena("test", kShape);
  CHECK(arena.next_sequence() == 0);
  CHECK_FALSE(arena.is_published(0));
  for (std::int64_t sequence = 0; sequence < 7; ++sequence) {
    CHECK(arena.is_free(sequence));
    *arena.buffers(sequence).header = {.sequence = sequence};
    arena.publish(sequence);
    CHECK(arena.next_sequence() == sequence + 1);
    CHECK(arena.is_published(sequence));
    CHECK(arena.view(sequence).header.sequence == sequence);
    CHECK_FALSE(arena.is_published(sequence + 1));
    CHECK_THROWS_AS(arena.view(sequence + 1), InternalError);
    if (sequence == 0) continue;
    CHECK_FALSE(arena.is_free(sequence + 1));
    CHECK_THROWS_AS(arena.publish(sequence + 1), InternalError);
    CHECK_THROWS_AS(arena.release(sequence), InternalError);
    arena.release(sequence - 1);
  }
  arena.clear();
  CHECK(arena.next_sequence() == 0);
  CHECK(arena.is_free(1));
}

TEST_CASE("arena: a damaged header is detected") {
  Arena arena("test", kShape);
  *arena.buffers(0).header = {.sequence = 0, .rows = 13};
  arena.publish(0);
  CHECK_THROWS_AS(arena.view(0), InternalError);
}

TEST_CASE("slots: flat concatenates rows") {
  Arena arena("test", kShape);
  SampleStore store;
  Slot slot = data_slot(store, {{.view = 4, .length = 3, .supervised = 2},
                                {.view = 9, .length = 1, .supervised = 1}});
  slot.left_out = {{.view = 5, .reason = LeftOutReason::bad_record}};
  slot.last_of_step = true;
  slot.totals = {.supervised = 3, .tokens = 4, .samples = 2, .supervised_groups = 1};
  write_slot(slot, {.sequence = 0, .ordinal = 11, .epoch = 2}, {.layout = Layout::flat}, store,
             arena.buffers(0));
  arena.publish(0);
  const BatchView batch = arena.view(0);
  CHECK(copy(batch.ids) == std::vector<TokenId>{400, 401, 402, 900});
  CHECK(copy(batch.labels) == std::vector<std::int32_t>{kIgnoreIndex, 401, 402, kIgnoreIndex});
  CHECK(copy(batch.offsets) == std::vector<std::int32_t>{0, 3, 4});
  CHECK(copy(batch.views) == std::vector<ViewId>{4, 9});
  CHECK(copy(batch.left_out) == slot.left_out);
  CHECK(batch.header.kind == SlotKind::data);
  CHECK(batch.header.last_of_step);
  CHECK(batch.header.totals == slot.totals);
  CHECK(batch.header.number == 7);
  CHECK(batch.header.round == 3);
  CHECK(batch.header.ordinal == 11);
  CHECK(batch.header.epoch == 2);
  CHECK(batch.header.columns == 0);
  CHECK(batch.header.tokens == 4);
  CHECK(batch.header.supervised == 3);
  CHECK(store.size() == 0);
}

TEST_CASE("slots: padded pads rows to the longest, rounded up") {
  Arena arena("test", kShape);
  SampleStore store;
  const Slot slot = data_slot(store, {{.view = 4, .length = 3, .supervised = 2},
                                      {.view = 9, .length = 1, .supervised = 1}});
  write_slot(slot, {}, {.layout = Layout::padded, .pad_multiple = 4}, store, arena.buffers(0));
  arena.publish(0);
  const BatchView batch = arena.view(0);
  constexpr std::int32_t kNo = kIgnoreIndex;
  CHECK(batch.header.columns == 4);
  CHECK(copy(batch.ids) == std::vector<TokenId>{400, 401, 402, 0, 900, 0, 0, 0});
  CHECK(copy(batch.labels) == std::vector<std::int32_t>{kNo, 401, 402, kNo, kNo, kNo, kNo, kNo});
  CHECK(copy(batch.offsets) == std::vector<std::int32_t>{0, 3, 4});
}

TEST_CASE("slots: idle and end slots are empty, too many left-out rows break an invariant") {
  Arena arena("test", kShape);
  SampleStore store;
  for (const SlotKind kind : {SlotKind::idle, SlotKind::closing, SlotKind::end}) {
    write_slot({.kind = kind}, {}, {.layout = Layout::padded}, store, arena.buffers(0));
    arena.clear();
    write_slot({.kind = kind}, {}, {.layout = Layout::padded}, store, arena.buffers(0));
    arena.publish(0);
    const BatchView batch = arena.view(0);
    CHECK(batch.header.kind == kind);
    CHECK(batch.ids.empty());
    CHECK(copy(batch.offsets) == std::vector<std::int32_t>{0});
  }
  Slot slot;
  slot.left_out.resize(4);
  CHECK_THROWS_AS(write_slot(slot, {}, {}, store, arena.buffers(1)), InternalError);
}

TEST_CASE("sample store: samples come and go in any order and keep their content") {
  SampleStore store;
  // Longer than a block, more than the first table holds; the memory is reused.
  constexpr ViewId kViews = 5000;
  const auto length = [](ViewId view) { return static_cast<std::int32_t>(1 + view * 7 % 300); };
  std::vector<TokenId> ids(300);
  std::vector<std::int32_t> labels(300);
  for (int pass = 0; pass < 2; ++pass) {
    for (ViewId view = 0; view < kViews; ++view)
      put(store, view, length(view));
    CHECK(store.size() == kViews);
    bool equal = true;
    for (ViewId i = 0; i < kViews; ++i) {
      const ViewId view = i * 4999 % kViews;  // 4,999 and 5,000 have no common factor
      const std::size_t found = store.take(view, ids, labels);
      equal = equal && found == static_cast<std::size_t>(length(view)) && ids[0] == 100 * view &&
              labels[0] == kIgnoreIndex && ids[found - 1] == 100 * view + length(view) - 1;
    }
    CHECK(equal);
    CHECK(store.size() == 0);
  }
  put(store, 3, 200);
  put(store, 4, 1);
  CHECK_THROWS_AS(put(store, 3, 1), InternalError);
  CHECK_THROWS_AS(store.drop(5), InternalError);
  CHECK_THROWS_AS(store.take(3, std::span(ids).first(10), labels), InternalError);
  store.clear();
  CHECK(store.size() == 0);
  CHECK_THROWS_AS(store.drop(4), InternalError);
}

}  // namespace odb
