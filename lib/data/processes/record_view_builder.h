// The ViewBuilder over data files.
#pragma once

#include "data/processes/view_builder.h"
#include "data/sample/sample_source.h"

namespace odb {

class RecordViewBuilder final : public ViewBuilder {
 public:
  // `source` must outlive it; forked processes share it.
  explicit RecordViewBuilder(const SampleSource& source)
      : records_(source.records()), builder_(source.preprocessor().builder()) {}

  BuiltSample build(ViewId view, std::int64_t epoch, Sample& sample) override {
    const RecordSet::Place place = place_of(view, epoch);
    return builder_->build(records_.files()[place.file], place.row, sample);
  }
  std::string where(ViewId view, std::int64_t epoch) override {
    const RecordSet::Place place = place_of(view, epoch);
    return records_.files()[place.file].where(place.row);
  }

 private:
  RecordSet::Place place_of(ViewId view, std::int64_t epoch) const {
    return records_.place(static_cast<std::uint64_t>(view), static_cast<std::uint64_t>(epoch));
  }

  const RecordSet& records_;
  std::unique_ptr<SampleBuilder> builder_;
};

}  // namespace odb
