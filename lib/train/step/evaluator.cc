#include "train/step/evaluator.h"

#include <cmath>
#include <limits>
#include <utility>

#include "dist/sums.h"

namespace odb {

double overall_loss(const std::vector<EvaluationResult>& results) {
  double sum = 0;
  std::int64_t tokens = 0;
  for (const EvaluationResult& result : results) {
    if (result.supervised_tokens == 0) continue;
    sum += result.loss * static_cast<double>(result.supervised_tokens);
    tokens += result.supervised_tokens;
  }
  return tokens == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(tokens);
}

Evaluator::Evaluator(DataProcesses& processes, std::size_t first_loader,
                     std::vector<std::string> data, LossFunction loss, torch::Device device,
                     TrainingGroups& groups, StopRequest& stop)
    : processes_(processes),
      first_loader_(first_loader),
      data_(std::move(data)),
      loss_(std::move(loss)),
      builder_(device, LossNorm::token),
      groups_(groups),
      stop_(stop) {}

std::optional<std::vector<EvaluationResult>> Evaluator::run() {
  std::vector<double> sums;
  std::exception_ptr failure;
  bool stopped = false;
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const Sums own = stopped || failure ? Sums{} : go_through(first_loader_ + i);
    stopped = stopped || own.stopped;
    if (own.failure) failure = own.failure;
    sums.insert(sums.end(),
                {own.loss, static_cast<double>(own.tokens), static_cast<double>(own.samples)});
  }
  sums.push_back(stopped ? 1 : 0);
  sums.push_back(failure ? 1 : 0);
  sums = sum_over_ranks(groups_, sums);
  if (failure) std::rethrow_exception(failure);
  if (sums.back() > 0)
    throw OtherRankFailed(ExitCode::data,
                          "another rank cannot go on evaluating; its own message says why");
  if (sums[sums.size() - 2] > 0) return std::nullopt;
  std::vector<EvaluationResult> results;
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const double loss = sums[3 * i] / sums[3 * i + 1];
    results.push_back({.data = data_[i],
                       .loss = loss,
                       .perplexity = std::exp(loss),
                       .supervised_tokens = static_cast<std::int64_t>(sums[3 * i + 1]),
                       .samples = static_cast<std::int64_t>(sums[3 * i + 2])});
  }
  return results;
}

Evaluator::Sums Evaluator::go_through(std::size_t loader) {
  Sums sums;
  try {
    processes_.begin(loader);
    add_up(loader, sums);
    processes_.end(loader);
  } catch (const PeerLostError&) {
    throw;
  } catch (const Error&) {
    sums.failure = std::current_exception();
  }
  return sums;
}

void Evaluator::add_up(std::size_t loader, Sums& sums) {
  const torch::NoGradGuard no_grad;
  Pipeline& pipeline = processes_.pipeline(loader);
  const LoaderSetup& setup = pipeline.setup();
  PipelineStart start;
  start.state.start = start_of_epoch(setup.epoch(0), setup.shape.rank, setup.shape.world);
  pipeline.start(start);
  for (;;) {
    sums.stopped = stop_.anywhere();
    if (sums.stopped) return;
    const std::optional<BatchView> view = pipeline.next(std::chrono::milliseconds(100));
    if (!view) continue;
    const SlotHeader header = view->header;
    std::optional<MicroBatch> batch;
    if (header.kind == SlotKind::data) batch = builder_.build(*view);
    pipeline.release();
    if (header.kind == SlotKind::end) return;
    if (!batch) continue;
    await_tokens(*batch);
    sums.loss += sum_of(loss_(*batch), header.supervised).item<double>();
    sums.tokens += header.supervised;
    sums.samples += header.rows;
  }
}

}  // namespace odb
