// The state of a pattern's groups at the current position: whether case is ignored, and whether
// what precedes it can match the empty string.
#pragma once

#include <vector>

namespace odb {

class RegexGroups {
 public:
  RegexGroups() : open_(1) {}

  bool ignores_case() const { return open_.back().ignores_case; }
  void set_ignores_case(bool ignores) { open_.back().ignores_case = ignores; }

  // One item of the pattern: a character, a class, an anchor (matches nothing).
  void add_item(bool can_be_empty) {
    settle();
    item_can_be_empty_ = can_be_empty;
  }
  // Whether the last item can match nothing.
  bool last_can_be_empty() const { return item_can_be_empty_; }
  // The last item may be left out.
  void make_optional() { item_can_be_empty_ = true; }

  // `looks`: a look-around group, which matches nothing itself.
  void open(bool looks) {
    settle();
    open_.push_back({.ignores_case = ignores_case(), .looks = looks});
    item_can_be_empty_ = true;
  }
  void next_alternative() {
    settle();
    Group& group = open_.back();
    group.can_be_empty = group.can_be_empty || group.alternative_can_be_empty;
    group.alternative_can_be_empty = true;
  }
  // The group is then the last item. An extra bracket is left to the compiler.
  void close() {
    next_alternative();
    const Group closed = open_.back();
    if (open_.size() > 1) open_.pop_back();
    item_can_be_empty_ = closed.looks || closed.can_be_empty;
  }

 private:
  struct Group {
    bool ignores_case = false;
    bool looks = false;
    bool can_be_empty = false;  // of some finished alternative
    bool alternative_can_be_empty = true;
  };

  void settle() {
    open_.back().alternative_can_be_empty &= item_can_be_empty_;
    item_can_be_empty_ = true;
  }

  std::vector<Group> open_;  // [0] is the pattern itself
  bool item_can_be_empty_ = true;
};

}  // namespace odb
