// Formats the figures of a running training as one line. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace odb {

struct ConsoleFigures {
  double share = 0;  // of the run, 0..1
  std::int64_t step = 0;
  double epoch = 0;
  std::optional<double> loss;
  double lr = 0;
  double tokens_per_second = 0;
  double padding_fraction = 0;
  double data_wait_fraction = 0;  // of the time
  std::optional<double> seconds_left;
};

// "12s", "3m05s", "1h02m", "2d04h"; "?" for an invalid time.
std::string format_time_left(double seconds);
// "3.46", "950", "12.3k", "1.20M", "3.46B": three digits.
std::string format_rate(double per_second);

// " 34 %  [###.......]  step 1234  loss 1.2345  12.3k tokens/s  padding 1.2 %  data wait 0.3 %
// 1h02m left", at most `width` columns. The least important parts are left out first.
std::string bar_line(const ConsoleFigures& figures, std::size_t width);
// "step 1234 (34 %, epoch 1.02): loss 1.2345, lr 9.1e-06, 12.3k tokens/s, padding 1.2 %, data wait
// 0.3 %, 1h02m left".
std::string log_line(const ConsoleFigures& figures);

// The seconds until the end of a run at the pace so far, for a process life that began at
// `share_at_start`; none before any progress.
std::optional<double> seconds_left(double share, double share_at_start, double seconds);

}  // namespace odb
