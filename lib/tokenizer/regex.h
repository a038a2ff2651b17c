// A compiled split pattern: PCRE2 with its just-in-time compiler where the platform has one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct pcre2_real_code_8;
struct pcre2_real_match_data_8;

namespace odb {

class Regex {
 public:
  struct Match {
    std::size_t begin;
    std::size_t end;
  };

  // Walks over the matches of one subject after another; holds PCRE2's working space. One per
  // thread.
  class Searcher {
   public:
    explicit Searcher(const Regex& regex);

    // REQUIRES: valid UTF-8 that outlives the search.
    void start(std::string_view subject);

    // The next match, left to right, not overlapping; skips an empty match directly after the
    // previous one (as Oniguruma's iterator does). Throws DataError if the match exceeds PCRE2's
    // limits (ten million steps): the pattern does not suit this text.
    std::optional<Match> next();

   private:
    std::optional<Match> search(std::size_t from);

    const Regex& regex_;
    std::unique_ptr<pcre2_real_match_data_8, void (*)(pcre2_real_match_data_8*)> data_;
    std::string_view subject_;
    std::size_t from_ = 0;
    std::optional<std::size_t> last_end_;
  };

  // `pattern` in Oniguruma's language (see regex_dialect.h). Throws DataError beginning with
  // `where` when it cannot be translated or compiled.
  Regex(std::string_view pattern, const std::string& where);

 private:
  std::string pattern_;
  std::unique_ptr<pcre2_real_code_8, void (*)(pcre2_real_code_8*)> code_;
};

}  // namespace odb
