// Where collate gets samples from: views are asked for in order, and come in that order.
//
// Two makers: worker_feed.h over rings to data workers, own_feed.h makes samples itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "data/processes/sample_message.h"

namespace odb {

// Asked at every glance of a wait: true ends it.
using GivenUp = std::function<bool()>;

class SampleFeed {
 public:
  virtual ~SampleFeed() = default;

  // Forgets what was asked for, also by an earlier life of this process.
  virtual void restart() = 0;

  // How many views may be asked for that were not answered yet.
  virtual std::int64_t most_ahead() const = 0;

  // Asks for `view`. May block; false: given up, and the feed has to be restarted.
  virtual bool request(const ViewRequest& view, const GivenUp& given_up) = 0;
  // To be called behind the last request of several.
  virtual void flush_requests() = 0;

  // The answer to the oldest request that has none. Blocks; empty: given up. Valid until done().
  virtual std::optional<FedSample> next(const GivenUp& given_up) = 0;
  virtual void done() = 0;
};

}  // namespace odb
