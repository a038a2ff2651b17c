#include "data/loader/record_loader.h"

#include <algorithm>
#include <vector>

#include "base/progress_callback.h"
#include "data/loader/samples/record_view_builder.h"
#include "data/sample/row_lengths.h"

namespace odb {
namespace {

constexpr std::int64_t kTemplateTokens = 1024;

// Lengths of all rows of all files, after --cutoff-len; 0 for rows without a supervised token.
using RowTables = std::vector<std::vector<std::int32_t>>;

RowTables measure(const SampleSource& source, const ProgressCallback& progress) {
  const std::int64_t cutoff = source.preprocessor().options().cutoff_len;
  RowTables tables;
  for (const RecordFile& file : source.records().files()) {
    std::vector<std::int32_t>& lengths = tables.emplace_back();
    lengths.reserve(file.rows());
    for (const RowLength& row : row_lengths(source, file, {.threads = 0, .progress = progress})) {
      const std::int64_t length =
          cutoff > 0 ? std::min<std::int64_t>(row.length, cutoff) : row.length;
      lengths.push_back(row.reason() == LeftOutReason::none ? static_cast<std::int32_t>(length)
                                                            : 0);
    }
  }
  return tables;
}

LengthTable lengths_of_epoch(const RecordSet& records, const RowTables& tables,
                             std::int64_t epoch) {
  std::vector<std::int32_t> lengths(records.views());
  for (std::uint64_t view = 0; view < records.views(); ++view) {
    const RecordSet::RowRef row = records.row(view, static_cast<std::uint64_t>(epoch));
    lengths[view] = tables[row.file][row.row];
  }
  return std::make_shared<const std::vector<std::int32_t>>(std::move(lengths));
}

}  // namespace

std::int64_t longest_sample(const SampleSource& source) {
  if (source.preprocessor().options().cutoff_len > 0)
    return source.preprocessor().options().cutoff_len;
  std::uint64_t bytes = 0;
  for (const RecordFile& file : source.records().files())
    bytes = std::max(bytes, file.index().longest_row);
  return static_cast<std::int64_t>(bytes) + kTemplateTokens;
}

LoaderSetup record_loader(const SampleSource& source, const BatchingOptions& resolved,
                          const LoaderOptions& options, int rank, int world,
                          const ProgressCallback& progress) {
  LoaderSetup setup;
  setup.shape = {.rank = rank,
                 .world = world,
                 .seed = options.seed,
                 .data_size = static_cast<std::int64_t>(source.records().views())};
  setup.batching = resolved;
  setup.workers = static_cast<int>(options.data_workers);
  setup.depth = options.depth;
  setup.rules = {.skip_bad = source.preprocessor().options().on_bad_sample == OnBadSample::skip,
                 .longest = longest_sample(source)};
  setup.builder = [&source] { return std::make_unique<RecordViewBuilder>(source); };
  if (plans_epoch(resolved.strategy))
    setup.lengths = [&records = source.records(),
                     tables = std::make_shared<const RowTables>(measure(source, progress))](
                        std::int64_t epoch) { return lengths_of_epoch(records, *tables, epoch); };
  return setup;
}

}  // namespace odb
