// The ViewBuilder over data files.
#pragma once

#include "data/loader/samples/view_builder.h"
#include "data/sample/sample_source.h"

namespace odb {

class RecordViewBuilder final : public ViewBuilder {
 public:
  // `source` must outlive it; forked processes share it.
  explicit RecordViewBuilder(const SampleSource& source)
      : records_(source.records()), builder_(source.preprocessor().builder()) {}

  BuiltSample build(ViewId view, std::int64_t epoch, Sample& sample) override {
    const RecordSet::RowRef row = row_of(view, epoch);
    return builder_->build(records_.files()[row.file], row.row, sample);
  }
  std::string where(ViewId view, std::int64_t epoch) override {
    const RecordSet::RowRef row = row_of(view, epoch);
    return records_.files()[row.file].where(row.row);
  }

 private:
  RecordSet::RowRef row_of(ViewId view, std::int64_t epoch) const {
    return records_.row(static_cast<std::uint64_t>(view), static_cast<std::uint64_t>(epoch));
  }

  const RecordSet& records_;
  std::unique_ptr<SampleBuilder> builder_;
};

}  // namespace odb
