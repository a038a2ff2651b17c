#include "tokenizer/split_steps.h"

#include <algorithm>
#include <utility>

#include "tokenizer/code_points.h"
#include "tokenizer/regex.h"
#include "tokenizer/utf8.h"

namespace odb {

namespace {

struct Piece {
  Span span;
  bool is_match;
};

// Cuts one part into pieces that cover it. The matches are offsets into the part.
class Pieces {
 public:
  void start(Span part) {
    part_ = part;
    covered_ = part.begin;
    pieces_.clear();
  }

  void add_match(std::size_t begin, std::size_t end) {
    const auto first = part_.begin + static_cast<std::uint32_t>(begin);
    if (covered_ != first) pieces_.push_back({{covered_, first}, false});
    covered_ = part_.begin + static_cast<std::uint32_t>(end);
    pieces_.push_back({{first, covered_}, true});
  }

  const std::vector<Piece>& finish() {
    if (covered_ != part_.end) pieces_.push_back({{covered_, part_.end}, false});
    return pieces_;
  }

 private:
  Span part_{};
  std::uint32_t covered_ = 0;
  std::vector<Piece> pieces_;
};

// Whether a piece is glued to the one before it (for merged_with_next: seen from the end).
bool joins(SplitBehavior behavior, bool is_match, bool previous_is_match) {
  return behavior == SplitBehavior::contiguous ? is_match == previous_is_match
                                               : is_match && !previous_is_match;
}

void append_joined(std::span<const Piece> pieces, SplitRule rule, std::vector<Span>& out) {
  const std::size_t first = out.size();
  bool previous_is_match = false;
  for (const Piece& piece : pieces) {
    const bool is_match = piece.is_match != rule.invert;
    if (out.size() > first && joins(rule.behavior, is_match, previous_is_match)) {
      out.back().end = piece.span.end;
    } else {
      out.push_back(piece.span);
    }
    previous_is_match = is_match;
  }
}

void append_joined_backwards(std::span<const Piece> pieces, SplitRule rule,
                             std::vector<Span>& out) {
  std::vector<Span> reversed;
  bool previous_is_match = false;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    const bool is_match = piece->is_match != rule.invert;
    if (!reversed.empty() && joins(rule.behavior, is_match, previous_is_match)) {
      reversed.back().begin = piece->span.begin;
    } else {
      reversed.push_back(piece->span);
    }
    previous_is_match = is_match;
  }
  out.insert(out.end(), reversed.rbegin(), reversed.rend());
}

void append_pieces(std::span<const Piece> pieces, SplitRule rule, std::vector<Span>& out) {
  const std::size_t first = out.size();
  switch (rule.behavior) {
    case SplitBehavior::removed:
      for (const Piece& piece : pieces) {
        if (piece.is_match == rule.invert) out.push_back(piece.span);
      }
      break;
    case SplitBehavior::isolated:
      for (const Piece& piece : pieces)
        out.push_back(piece.span);
      break;
    case SplitBehavior::merged_with_next:
      append_joined_backwards(pieces, rule, out);
      break;
    case SplitBehavior::merged_with_previous:
    case SplitBehavior::contiguous:
      append_joined(pieces, rule, out);
      break;
  }
  const auto is_empty = [](Span span) { return span.begin == span.end; };
  out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), is_empty),
            out.end());
}

class RegexSplitter final : public Splitter {
 public:
  RegexSplitter(std::string_view pattern, SplitRule rule, const std::string& where)
      : regex_(pattern, where), rule_(rule) {}

  void split(std::string_view text, std::span<const Span> parts,
             std::vector<Span>& out) const override {
    Regex::Searcher searcher(regex_);
    Pieces pieces;
    for (const Span part : parts) {
      pieces.start(part);
      searcher.start(part.of(text));
      while (const auto match = searcher.next())
        pieces.add_match(match->begin, match->end);
      append_pieces(pieces.finish(), rule_, out);
    }
  }

 private:
  Regex regex_;
  SplitRule rule_;
};

class TextSplitter final : public Splitter {
 public:
  TextSplitter(std::string wanted, SplitRule rule) : wanted_(std::move(wanted)), rule_(rule) {}

  void split(std::string_view text, std::span<const Span> parts,
             std::vector<Span>& out) const override {
    Pieces pieces;
    for (const Span part : parts) {
      pieces.start(part);
      const std::string_view subject = part.of(text);
      std::size_t at = wanted_.empty() ? std::string_view::npos : subject.find(wanted_);
      while (at != std::string_view::npos) {
        pieces.add_match(at, at + wanted_.size());
        at = subject.find(wanted_, at + wanted_.size());
      }
      append_pieces(pieces.finish(), rule_, out);
    }
  }

 private:
  std::string wanted_;
  SplitRule rule_;
};

class DigitsSplitter final : public Splitter {
 public:
  explicit DigitsSplitter(bool individual)
      : table_(code_point_table()),
        rule_{individual ? SplitBehavior::isolated : SplitBehavior::contiguous} {}

  void split(std::string_view text, std::span<const Span> parts,
             std::vector<Span>& out) const override {
    Pieces pieces;
    for (const Span part : parts) {
      pieces.start(part);
      for (std::uint32_t at = part.begin; at < part.end;) {
        const CodePoint character = read_code_point(text.data() + at);
        const std::uint32_t offset = at - part.begin;
        if (table_[character.value] & numeric) pieces.add_match(offset, offset + character.bytes);
        at += character.bytes;
      }
      append_pieces(pieces.finish(), rule_, out);
    }
  }

 private:
  const CodePointTable& table_;
  SplitRule rule_;
};

}  // namespace

std::unique_ptr<Splitter> make_regex_splitter(std::string_view pattern, SplitRule rule,
                                              const std::string& where) {
  return std::make_unique<RegexSplitter>(pattern, rule, where);
}

std::unique_ptr<Splitter> make_text_splitter(std::string text, SplitRule rule) {
  return std::make_unique<TextSplitter>(std::move(text), rule);
}

std::unique_ptr<Splitter> make_digits_splitter(bool individual) {
  return std::make_unique<DigitsSplitter>(individual);
}

}  // namespace odb
