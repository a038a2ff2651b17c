// Notices a run that goes on without learning: gradients that stay 0, or a loss far above the one
// that it began with. Warns, once each; whether to stop is the user's choice.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "train/step/step_observer.h"

namespace odb {

// Steps in a row whose gradient norm is 0 before the warning.
inline constexpr std::int64_t kDeadSteps = 20;
// How many times the first loss a later one must reach for the warning.
inline constexpr double kLossGrowth = 10;

class DeadRunWatch final : public StepObserver {
 public:
  using Warn = std::function<void(const std::string&)>;

  // `warn` receives each warning. One rank is enough: the figures are those of all ranks.
  explicit DeadRunWatch(Warn warn) : warn_(std::move(warn)) {}

  void on_measured(const StepMeasure& measure, const Progress& progress) override;

 private:
  void check_gradient(const StepMeasure& measure, std::int64_t step);
  void check_loss(const StepMeasure& measure, std::int64_t step);

  Warn warn_;
  std::int64_t zero_steps_ = 0;  // in a row, up to the last measured step
  bool warned_of_gradient_ = false;
  std::optional<double> first_loss_;
  bool warned_of_loss_ = false;
};

}  // namespace odb
