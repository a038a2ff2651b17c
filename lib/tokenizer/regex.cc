#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/regex.h"

#include <pcre2.h>

#include <array>
#include <new>

#include "base/error.h"
#include "tokenizer/regex_dialect.h"
#include "tokenizer/utf8.h"

namespace odb {

namespace {

std::string pcre2_text(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

Pcre2Unicode pcre2_unicode() {
  std::array<char, 64> version{};
  pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, version.data());
  return std::stoi(version.data()) < 16 ? Pcre2Unicode::older_than_16 : Pcre2Unicode::since_16;
}

pcre2_code* compile(const std::string& pattern, const std::string& where) {
  const std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context*)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int error = 0;
  PCRE2_SIZE offset = 0;
  // In Oniguruma ^ and $ always match at the borders of a line.
  pcre2_code* code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &offset, context.get());
  if (code == nullptr) {
    throw DataError("{}: the pattern {} cannot be compiled: {} (offset {})", where, pattern,
                    pcre2_text(error), offset);
  }
  // Without a compiler for this processor the interpreter gives the same matches, slowly.
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return code;
}

}  // namespace

Regex::Regex(std::string_view pattern, const std::string& where)
    : pattern_(translate_oniguruma(pattern, pcre2_unicode(), where)),
      code_(compile(pattern_, where), pcre2_code_free) {}

Regex::Searcher::Searcher(const Regex& regex)
    : regex_(regex),
      data_(pcre2_match_data_create_from_pattern(regex.code_.get(), nullptr),
            pcre2_match_data_free) {}

void Regex::Searcher::start(std::string_view subject) {
  subject_ = subject;
  from_ = 0;
  last_end_.reset();
}

std::optional<Regex::Match> Regex::Searcher::next() {
  while (from_ <= subject_.size()) {
    const std::optional<Match> match = search(from_);
    if (!match) return std::nullopt;
    if (match->begin == match->end && last_end_ == match->end) {
      from_ += from_ < subject_.size() ? read_code_point(subject_.data() + from_).bytes : 1;
      continue;
    }
    from_ = match->end;
    last_end_ = match->end;
    return match;
  }
  return std::nullopt;
}

std::optional<Regex::Match> Regex::Searcher::search(std::size_t from) {
  const auto attempt = [&](std::uint32_t options) {
    return pcre2_match(regex_.code_.get(), reinterpret_cast<PCRE2_SPTR>(subject_.data()),
                       subject_.size(), from, options, data_.get(), nullptr);
  };
  int found = attempt(PCRE2_NO_UTF_CHECK);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) found = attempt(PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT);
  if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (found == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();  // not the text's fault
  if (found < 0) {
    throw DataError(
        "the split pattern {} gave up on a text of {} bytes at byte {}: {}; shorten the text or "
        "use "
        "a tokenizer with a simpler pattern",
        regex_.pattern_, subject_.size(), from, pcre2_text(found));
  }
  const PCRE2_SIZE* borders = pcre2_get_ovector_pointer(data_.get());
  return Match{borders[0], borders[1]};
}

}  // namespace odb
