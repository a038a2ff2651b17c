#include "model/measure.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/ignore_index.h"
#include "base/json_reader.h"
#include "model/language_model.h"

namespace odb {
namespace {

struct FlatBatch {
  torch::Tensor tokens;
  torch::Tensor labels;
  RowOffsets rows;
};

FlatBatch flatten(const MeasuredBatch& batch, bool pad) {
  std::vector<std::int64_t> lengths;
  for (const auto& row : batch.tokens)
    lengths.push_back(static_cast<std::int64_t>(row.size()));
  if (pad) std::ranges::fill(lengths, *std::ranges::max_element(lengths));
  std::vector<std::int64_t> tokens, labels;
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    tokens.insert(tokens.end(), batch.tokens[row].begin(), batch.tokens[row].end());
    labels.insert(labels.end(), batch.labels[row].begin(), batch.labels[row].end());
    const auto reached = static_cast<std::size_t>(lengths[row]) - batch.tokens[row].size();
    tokens.insert(tokens.end(), reached, 0);
    labels.insert(labels.end(), reached, kIgnoreIndex);
  }
  return {torch::tensor(tokens, torch::kLong), torch::tensor(labels, torch::kLong),
          RowOffsets::of_lengths(lengths)};
}

// The mean loss of one round; weights keep its gradients.
double go_over(LanguageModel& model, const std::vector<FlatBatch>& batches) {
  double sum = 0;
  std::int64_t count = 0;
  for (const FlatBatch& batch : batches) {
    const LossSum loss = model.loss(batch.tokens, batch.labels, batch.rows);
    loss.sum.backward();
    sum += loss.sum.item<double>();
    count += loss.count;
  }
  return sum / static_cast<double>(std::max<std::int64_t>(1, count));
}

void drop_gradients(const LanguageModel& model) {
  for (const auto& [name, weight] : model.weights())
    weight.mutable_grad() = torch::Tensor();
}

}  // namespace

std::vector<MeasuredBatch> parse_measured_batches(std::string_view json, const std::string& where) {
  const Json object = parse_strict_object(json, where);
  std::vector<MeasuredBatch> batches;
  try {
    for (const Json& batch : object.at("batches")) {
      batches.push_back({batch.at("tokens").get<std::vector<std::vector<std::int64_t>>>(),
                         batch.at("labels").get<std::vector<std::vector<std::int64_t>>>()});
      const auto same_size = [](const auto& a, const auto& b) { return a.size() == b.size(); };
      if (batches.back().tokens.empty() ||
          !std::ranges::equal(batches.back().tokens, batches.back().labels, same_size))
        throw FileError("{}: a batch has no rows, or labels that do not match its tokens", where);
    }
  } catch (const Json::exception& error) {
    throw FileError("{}: expected batches of tokens and labels: {}", where, error.what());
  }
  return batches;
}

Measurement measure_model(LanguageModel& model, const std::vector<MeasuredBatch>& batches, bool pad,
                          std::int64_t rounds) {
  Measurement result;
  std::vector<FlatBatch> flat;
  for (const MeasuredBatch& batch : batches) {
    flat.push_back(flatten(batch, pad));
    result.computed_tokens += flat.back().rows.tokens();
    for (const auto& row : batch.tokens)
      result.real_tokens += static_cast<std::int64_t>(row.size());
  }
  result.loss = go_over(model, flat);
  for (std::int64_t round = 0; round < rounds; ++round) {
    drop_gradients(model);
    const auto start = std::chrono::steady_clock::now();
    go_over(model, flat);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    result.seconds.push_back(taken.count());
  }
  return result;
}

}  // namespace odb
