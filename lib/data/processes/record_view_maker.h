// The ViewMaker over data files.
#pragma once

#include "data/processes/view_maker.h"
#include "data/sample/sample_source.h"

namespace odb {

class RecordViewMaker final : public ViewMaker {
 public:
  // `source` must outlive it; forked processes share it.
  explicit RecordViewMaker(const SampleSource& source)
      : records_(source.records()), maker_(source.making().maker()) {}

  MadeSample make(ViewId view, std::int64_t epoch, Sample& sample) override {
    const RecordSet::Place place = place_of(view, epoch);
    return maker_->make(records_.files()[place.file], place.row, sample);
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
  std::unique_ptr<SampleMaker> maker_;
};

}  // namespace odb
