// Several data files as one data set of views 0..views()-1, the numbers that the sampler draws.
//
// `path` gives each row once per epoch, as view = row. `path:0.5` gives half as many views as rows,
// `path:2.5` two and a half times as many: the views of epoch e continue a seeded order of the rows
// where those of epoch e - 1 ended, so every row comes before any row comes again. The row of a
// view depends only on (files, weights, seed, epoch, view).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/records/record_file.h"

namespace odb {

// One --data argument: "PATH" or "PATH:WEIGHT".
struct DataSource {
  std::string path;
  double weight = 1.0;
};

// An existing path is never split. Throws DataError for an address ("hf://...") and if what is not
// a weight follows the colon and no such file exists; UsageError if it exists and the weight is not
// a number above 0 and at most 1000.
DataSource parse_data_source(FileSystem& files, const std::string& word);

class RecordSet {
 public:
  struct RowRef {
    std::size_t file = 0;
    std::uint64_t row = 0;
  };

  // Opens and indexes all files. Throws DataError if there are no rows.
  RecordSet(const std::vector<DataSource>& sources, std::uint64_t seed, const CacheFolder& cache,
            const IndexBuild& build = {});

  const std::vector<RecordFile>& files() const { return files_; }
  double weight(std::size_t file) const { return weights_[file]; }
  std::uint64_t rows() const;                           // of all files
  std::uint64_t views() const { return ends_.back(); }  // per epoch
  // 0 <= view < views() (checked).
  RowRef row(std::uint64_t view, std::uint64_t epoch) const;

 private:
  std::vector<RecordFile> files_;
  std::vector<double> weights_;
  std::vector<std::uint64_t> ends_;  // views of the files up to and including this one
  std::uint64_t seed_;
};

}  // namespace odb
