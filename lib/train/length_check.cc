#include "train/length_check.h"

#include <fmt/format.h>

#include "data/loader/record_loader.h"

namespace odb {

std::string why_too_long(const SampleSource& source, std::int64_t max_length) {
  if (longest_sample(source) <= max_length) return "";
  const auto builder = source.preprocessor().builder();
  for (const RecordFile& file : source.records().files()) {
    // A token has at least one byte; what a template adds to a conversation is short.
    if (file.rows() == 0 || static_cast<std::int64_t>(file.index().longest_row) <= max_length)
      continue;
    const std::uint64_t row = file.longest_row();
    Sample sample;
    if (builder->try_build(file, row, sample).left_out != LeftOutReason::none) continue;
    const auto tokens = static_cast<std::int64_t>(sample.tokens.size());
    if (tokens > max_length)
      return fmt::format(
          "{}: the sample has {} tokens, the model's config.json expects at most {} positions "
          "(max_position_embeddings), and knows none beyond; --cutoff-len {} cuts such samples",
          file.where(row), tokens, max_length, max_length);
  }
  return "";
}

}  // namespace odb
