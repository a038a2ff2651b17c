#include "tokenizer/pre_tokenizer.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "tokenizer/component_fields.h"
#include "tokenizer/split_steps.h"
#include "tokenizer/word_scanner.h"

namespace odb {

using nlohmann::json;

namespace {

SplitBehavior parse_behavior(const json& component, const std::string& where) {
  constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> kNames{
      {{"Removed", SplitBehavior::removed},
       {"Isolated", SplitBehavior::isolated},
       {"MergedWithPrevious", SplitBehavior::merged_with_previous},
       {"MergedWithNext", SplitBehavior::merged_with_next},
       {"Contiguous", SplitBehavior::contiguous}}};
  const std::string name = fields(component, where).text("behavior");
  for (const auto& [known, behavior] : kNames) {
    if (name == known) return behavior;
  }
  throw DataError("{}: unknown behavior '{}'", where, name);
}

}  // namespace

PreTokenizer PreTokenizer::parse(const json& component, const std::string& where) {
  PreTokenizer result;
  if (!component.is_null()) result.add(component, where);
  if (!result.has_byte_level_) {
    throw DataError(
        "{}: no ByteLevel step; only byte-level BPE tokenizers are supported (the Qwen, Llama 3 "
        "and "
        "GPT-2 families and their relatives)",
        where);
  }
  return result;
}

void PreTokenizer::add(const json& component, const std::string& where) {
  const std::string type = fields(component, where).text("type");
  if (has_byte_level_) {
    throw DataError("{}: {} comes after ByteLevel, which must be the last step", where, type);
  }
  if (type == "Sequence") {
    fields(component, where).allow_only({"type", "pretokenizers"});
    std::size_t index = 0;
    for (const json& step : fields(component, where).list("pretokenizers")) {
      add(step, fmt::format("{}.pretokenizers[{}]", where, index++));
    }
  } else if (type == "Split") {
    add_split(component, where);
  } else if (type == "Digits") {
    fields(component, where).allow_only({"type", "individual_digits"});
    steps_.push_back(
        make_digits_splitter(fields(component, where).boolean("individual_digits", false)));
  } else if (type == "ByteLevel") {
    add_byte_level(component, where);
  } else {
    throw DataError(
        "{}: unknown pre-tokenizer '{}'; known are Sequence, Split, Digits and ByteLevel", where,
        type);
  }
}

void PreTokenizer::add_split(const json& component, const std::string& where) {
  fields(component, where).allow_only({"type", "pattern", "behavior", "invert"});
  const SplitRule rule{.behavior = parse_behavior(component, where),
                       .invert = fields(component, where).boolean("invert", false)};
  const json& pattern = fields(component, where).value("pattern");
  const std::string place = where + ".pattern";
  if (pattern.is_object() && pattern.size() == 1 && pattern.contains("String")) {
    std::string text = fields(pattern, place).text("String");
    if (text.empty()) throw DataError("{}: an empty String matches nothing sensible", place);
    steps_.push_back(make_text_splitter(std::move(text), rule));
    return;
  }
  if (!pattern.is_object() || pattern.size() != 1 || !pattern.contains("Regex")) {
    throw DataError("{}: expected {{\"Regex\": ...}} or {{\"String\": ...}}", place);
  }
  const std::string regex = fields(pattern, place).text("Regex");
  std::unique_ptr<Splitter> scanner;
  // A scanner's words cover the whole text, so that there is nothing to invert or remove.
  if (rule.behavior == SplitBehavior::isolated) scanner = make_word_scanner(regex);
  steps_.push_back(scanner ? std::move(scanner) : make_regex_splitter(regex, rule, place));
}

void PreTokenizer::add_byte_level(const json& component, const std::string& where) {
  check_byte_level_keys(component, where);
  has_byte_level_ = true;
  add_prefix_space_ = fields(component, where).boolean("add_prefix_space");
  if (fields(component, where).boolean("use_regex", true)) {
    built_in_ = make_word_scanner(kGpt2Pattern);
  }
}

std::string_view PreTokenizer::prefix_blanks(std::string_view text, Scratch& scratch) {
  scratch.prefixed.clear();
  for (Span& part : scratch.words) {
    const std::string_view content = part.of(text);
    part.begin = static_cast<std::uint32_t>(scratch.prefixed.size());
    if (content.front() != ' ') scratch.prefixed += ' ';
    scratch.prefixed += content;
    part.end = static_cast<std::uint32_t>(scratch.prefixed.size());
  }
  return scratch.prefixed;
}

std::string_view PreTokenizer::split(std::string_view text, Scratch& scratch) const {
  const Span whole{0, static_cast<std::uint32_t>(text.size())};
  if (steps_.empty()) {
    scratch.words.assign(1, whole);
  } else {
    scratch.words.clear();
    steps_.front()->split(text, {&whole, 1}, scratch.words);
  }
  const auto run = [&scratch](const Splitter& step, std::string_view subject) {
    scratch.parts.swap(scratch.words);
    scratch.words.clear();
    step.split(subject, scratch.parts, scratch.words);
  };
  for (std::size_t i = 1; i < steps_.size(); ++i)
    run(*steps_[i], text);
  if (add_prefix_space_) text = prefix_blanks(text, scratch);
  if (built_in_) run(*built_in_, text);
  return text;
}

}  // namespace odb
