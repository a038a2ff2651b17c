// Where collate gets samples from: views are requested in order, and come in that order.
//
// Two implementations: worker_samples.h uses rings to data workers, inline_samples.h prepares
// samples in the same process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "data/loader/samples/sample_message.h"

namespace odb {

// Polled by every wait: true ends the wait.
using GivenUp = std::function<bool()>;

class SampleStream {
 public:
  virtual ~SampleStream() = default;

  // Forgets all requests, also those of an earlier life of this process.
  virtual void restart() = 0;

  // The maximum number of requests without an answer.
  virtual std::int64_t max_ahead() const = 0;

  // Requests `view`. May block; false: given up, and the feed must be restarted.
  virtual bool request(const ViewRequest& view, const GivenUp& given_up) = 0;
  // Call it after the last of several requests.
  virtual void flush_requests() = 0;

  // The answer to the oldest unanswered request. Blocks; empty: given up. Valid until done().
  virtual std::optional<SampleView> next(const GivenUp& given_up) = 0;
  virtual void done() = 0;
};

}  // namespace odb
