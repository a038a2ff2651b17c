#include "model/language_model.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "model/cpu/host_memory.h"
#include "model/files/weight_names.h"
#include "model/init.h"
#include "model/weights_io.h"

namespace odb {

using torch::Tensor;

LanguageModel::LanguageModel(ModelConfig config, ComputeOptions options, torch::Device device)
    : config_(std::move(config)), options_(options), rotary_(config_) {
  for (const auto& [name, shape] : parameter_shapes(config_)) {
    std::string registered = name;
    std::ranges::replace(registered, '.', '_');
    const Tensor values = torch::empty(shape, torch::TensorOptions(torch::kFloat).device(device));
    if (device.is_cpu()) prefer_large_pages(values.mutable_data_ptr(), values.nbytes());
    weights_[name] = register_parameter(registered, values);
  }
  for (std::int64_t layer = 0; layer < config_.layers; ++layer)
    blocks_.push_back(BlockParameters::from(weights_, fmt::format("blocks.{}.", layer)));
}

namespace {

void check_tokens(const Tensor& tokens, std::int64_t vocabulary_size) {
  const auto [least, most] = tokens.aminmax();
  const auto low = least.item<std::int64_t>();
  const auto high = most.item<std::int64_t>();
  if (low < 0 || high >= vocabulary_size)
    throw DataError(
        "found token {} in a batch, expected ids below the model's {}; the tokenizer is not "
        "the model's",
        low < 0 ? low : high, vocabulary_size);
}

}  // namespace

Linear LanguageModel::head() const {
  return {weights_.at(config_.tied_embeddings ? "embedding" : "head")};
}

Tensor LanguageModel::hidden_states(const Tensor& tokens, const RowOffsets& rows) {
  ODB_CHECK_EQ(tokens.size(0), rows.tokens());
  ODB_CHECK_GT(tokens.size(0), 0);
  if (tokens.device().is_cpu()) check_tokens(tokens, config_.vocabulary_size);
  const auto type = options_.dtype == ComputeType::bf16 ? torch::kBFloat16 : torch::kFloat;
  Residual residual{torch::embedding(weights_.at("embedding"), tokens).to(type), {}};
  const BatchShape batch{rows, rotary_.of(rows, tokens.device())};
  const auto run = options_.recompute == Recompute::block ? run_block_recomputed : run_block;
  for (const BlockParameters& block : blocks_)
    residual = run(residual, block, batch, config_);
  return add_and_norm(residual, weights_.at("final_norm"), config_.norm_epsilon).normed;
}

Tensor LanguageModel::logits(const Tensor& hidden) {
  return head()(hidden).to(torch::kFloat);
}

LossSum LanguageModel::loss(const Tensor& tokens, const Tensor& labels, const RowOffsets& rows,
                            std::span<const double> row_weights) {
  const SupervisedPositions supervised =
      supervised_positions(labels, rows, config_.vocabulary_size, row_weights);
  return {token_loss(hidden_states(tokens, rows), head().weight, supervised, options_.loss),
          supervised.count()};
}

std::vector<std::string> LanguageModel::weight_order() const {
  std::vector<std::string> names;
  for (const auto& [name, shape] : parameter_shapes(config_))
    names.push_back(name);
  return names;
}

LossParts LanguageModel::loss(const MicroBatch& batch) {
  const LossSum loss = this->loss(batch.tokens, batch.labels, batch.rows, batch.row_weights);
  return {{.name = "token", .sum = loss.sum, .count = loss.count}};
}

void LanguageModel::load(FileSystem& files, const std::string& folder) {
  load_weights(files, folder, *this);
  require_finite(*this, folder);
}

void LanguageModel::initialize(std::uint64_t seed) {
  initialize_weights(*this, seed);
}

void LanguageModel::save(FileSystem& files, const std::string& folder,
                         const Weights& weights) const {
  save_model(files, folder, config_, weights);
}

}  // namespace odb
