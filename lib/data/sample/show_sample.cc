#include "data/sample/show_sample.h"

#include <span>

#include "base/ignore_index.h"

namespace odb {

std::string show_sample(const Sample& sample, const Tokenizer& tokenizer, Highlight highlight) {
  const std::string_view open = highlight == Highlight::color ? "\x1b[32m" : kSupervisedOpen;
  const std::string_view close = highlight == Highlight::color ? "\x1b[0m" : kSupervisedClose;
  std::string out;
  for (std::size_t begin = 0; begin < sample.tokens.size();) {
    const bool supervised = sample.labels[begin] != kIgnoreIndex;
    std::size_t end = begin + 1;
    while (end < sample.labels.size() && (sample.labels[end] != kIgnoreIndex) == supervised)
      ++end;
    const std::string text = tokenizer.decode(std::span(sample.tokens).subspan(begin, end - begin));
    if (supervised) out += open;
    out += text;
    if (supervised) out += close;
    begin = end;
  }
  return out;
}

}  // namespace odb
