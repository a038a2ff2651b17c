// Several data files as one data set of views 0..views()-1, the numbers that the sampler deals out.
//
// `path` gives each row once per epoch, as view = row. `path:0.5` gives half of the rows' number,
// `path:2.5` two and a half times it: the views of epoch e go on in a seeded order of the rows
// where those of epoch e - 1 ended, so that all rows come before any comes again. Which row a view
// is depends on (files, weights, seed, epoch, view) alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/records/record_file.h"

namespace odb {

// One --data word: "PATH" or "PATH:WEIGHT".
struct DataSource {
  std::string path;
  double weight = 1.0;
};

// A path that exists as it stands is never split. Throws UsageError for a weight that is no number
// above 0 and at most 1000.
DataSource parse_data_source(FileSystem& files, const std::string& word);

class RecordSet {
 public:
  struct Place {
    std::size_t file = 0;
    std::uint64_t row = 0;
  };

  // Opens and indexes all files. Throws DataError when there is no row at all.
  RecordSet(const std::vector<DataSource>& sources, std::uint64_t seed, const CacheFolder& cache,
            const IndexBuild& build = {});

  const std::vector<RecordFile>& files() const { return files_; }
  double weight(std::size_t file) const { return weights_[file]; }
  std::uint64_t rows() const;                           // of all files
  std::uint64_t views() const { return ends_.back(); }  // per epoch
  // 0 <= view < views() (checked).
  Place place(std::uint64_t view, std::uint64_t epoch) const;

 private:
  std::vector<RecordFile> files_;
  std::vector<double> weights_;
  std::vector<std::uint64_t> ends_;  // views of the files up to and with this one
  std::uint64_t seed_;
};

}  // namespace odb
