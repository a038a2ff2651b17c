#include "batching/window.h"

#include <algorithm>

#include "base/error.h"

namespace odb {
namespace {

constexpr std::int64_t kRampStart = 256;
constexpr std::int64_t kMostBudgets = 128;  // tokens held, in multiples of L_max
constexpr std::int64_t kLeft = -1;          // in place of sent_back while removing

}  // namespace

Window::Window(const BatchingOptions& resolved)
    : most_tokens_(kMostBudgets * resolved.l_max), rule_(grouping_rule(resolved)) {}

bool Window::wants_more(std::int64_t fill_target) const {
  if (size() < fill_target && sums_.tokens < most_tokens_) return true;
  return is_one_open_group(rule_, sums_);
}

void Window::add(const Item& item, std::int64_t sent_back) {
  items_.push_back(item);
  sent_back_.push_back(sent_back);
  sums_.add(item);
}

void Window::remove(std::span<const std::int32_t> left) {
  for (const std::int32_t index : left) {
    ODB_CHECK(sent_back_[static_cast<std::size_t>(index)] != kLeft, "sample {} left twice", index);
    sent_back_[static_cast<std::size_t>(index)] = kLeft;
  }
  std::size_t kept = 0;
  sums_ = {};
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (sent_back_[i] == kLeft) continue;
    items_[kept] = items_[i];
    sent_back_[kept] = sent_back_[i] + 1;
    sums_.add(items_[kept++]);
  }
  items_.resize(kept);
  sent_back_.resize(kept);
}

std::vector<WindowEntry> Window::entries() const {
  std::vector<WindowEntry> entries;
  entries.reserve(items_.size());
  for (std::size_t i = 0; i < items_.size(); ++i)
    entries.push_back({.view = items_[i].view, .sent_back = sent_back_[i]});
  return entries;
}

std::int64_t first_fill_target(std::int64_t window) {
  return std::min(kRampStart, window);
}

std::int64_t next_fill_target(std::int64_t target, std::int64_t window) {
  return std::min(2 * target, window);
}

}  // namespace odb
