// Prepares the sample of a view, in data workers. One per process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "batching/item.h"
#include "data/sample/sample_builder.h"

namespace odb {

class ViewBuilder {
 public:
  virtual ~ViewBuilder() = default;

  // The sample of `view` in `epoch`: the same in every process, at any time. As
  // SampleBuilder::build: throws DataError for a broken record unless those are left out, and for a
  // file that changed.
  virtual BuiltSample build(ViewId view, std::int64_t epoch, Sample& sample) = 0;

  // The place of its record, for messages: "chat.jsonl:17".
  virtual std::string where(ViewId view, std::int64_t epoch) = 0;
};

// Called in the process that prepares samples, once per process life.
using ViewBuilderFactory = std::function<std::unique_ptr<ViewBuilder>()>;

}  // namespace odb
