#include "batching/window.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/index.h"

namespace odb {
namespace {

constexpr std::int64_t kMaxBudgets = 128;  // tokens held, in multiples of L_max
constexpr std::int64_t kLeft = -1;         // replaces sent_back during remove()

}  // namespace

Window::Window(const BatchingOptions& resolved)
    : max_tokens_(kMaxBudgets * resolved.l_max), rule_(grouping_rule(resolved)) {}

bool Window::wants_more(std::int64_t fill_target) const {
  if (size() < fill_target && sums_.tokens < max_tokens_) return true;
  return is_one_open_group(rule_, sums_);
}

void Window::add(const Item& item, std::int64_t sent_back) {
  items_.push_back(item);
  sent_back_.push_back(sent_back);
  sums_.add(item);
}

void Window::sort_longer_first() {
  std::vector<std::size_t> order(items_.size());
  std::iota(order.begin(), order.end(), 0);
  const auto before = [&](std::size_t a, std::size_t b) {
    return longer_first(items_[a], items_[b]);
  };
  const auto added = order.begin() + static_cast<std::ptrdiff_t>(sorted_);
  std::sort(added, order.end(), before);
  std::vector<std::size_t> merged(order.size());
  std::merge(order.begin(), added, added, order.end(), merged.begin(), before);
  std::vector<Item> items;
  std::vector<std::int64_t> sent_back;
  items.reserve(merged.size());
  sent_back.reserve(merged.size());
  for (const std::size_t index : merged) {
    items.push_back(items_[index]);
    sent_back.push_back(sent_back_[index]);
  }
  items_ = std::move(items);
  sent_back_ = std::move(sent_back);
  sorted_ = items_.size();
}

void Window::remove(std::span<const std::int32_t> left) {
  for (const std::int32_t index : left) {
    ODB_CHECK(at(sent_back_, index) != kLeft, "sample {} left twice", index);
    at(sent_back_, index) = kLeft;
  }
  std::size_t kept = 0;
  std::size_t kept_sorted = 0;
  sums_ = {};
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (sent_back_[i] == kLeft) continue;
    items_[kept] = items_[i];
    sent_back_[kept] = sent_back_[i] + 1;
    sums_.add(items_[kept++]);
    if (i < sorted_) kept_sorted = kept;
  }
  items_.resize(kept);
  sent_back_.resize(kept);
  sorted_ = kept_sorted;
}

std::vector<WindowEntry> Window::entries() const {
  std::vector<WindowEntry> entries;
  entries.reserve(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i)
    entries.push_back({.view = items_[i].view, .sent_back = sent_back_[i]});
  return entries;
}

}  // namespace odb
