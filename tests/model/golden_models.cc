#include "golden_models.h"

#include <ATen/Parallel.h>

#include "base/error.h"
#include "base/ignore_index.h"
#include "catch.h"
#include "model/files/weight_names.h"
#include "model/weights_io.h"

namespace odb {

using torch::Tensor;

namespace {

torch::ScalarType scalar_type(TensorType type) {
  switch (type) {
    case TensorType::f64:
      return torch::kDouble;
    case TensorType::f32:
      return torch::kFloat;
    case TensorType::bf16:
      return torch::kBFloat16;
    case TensorType::i64:
      return torch::kLong;
    default:
      throw InternalError("no test reads {}", name(type));
  }
}

}  // namespace

std::map<std::string, Tensor> read_tensors(const std::string& path) {
  RealFileSystem files;
  std::string bytes = files.read_all(path);
  std::map<std::string, Tensor> tensors;
  for (const TensorInfo& info : read_safetensors_header(files, path).tensors)
    tensors[info.name] =
        torch::from_blob(bytes.data() + info.begin, info.shape, scalar_type(info.type)).clone();
  return tensors;
}

LanguageModel load_model(const std::string& folder, const ComputeOptions& options) {
  at::set_num_threads(1);
  RealFileSystem files;
  LanguageModel model(read_model_config(files, folder), options);
  load_weights(files, folder, model);
  return model;
}

Batch golden_batch(const std::map<std::string, Tensor>& answers) {
  const Tensor& lengths = answers.at("lengths");
  const auto* first = lengths.const_data_ptr<std::int64_t>();
  return {answers.at("tokens"), answers.at("labels"),
          RowOffsets::of_lengths({first, static_cast<std::size_t>(lengths.numel())})};
}

Batch padded(const Batch& batch, std::int64_t padding) {
  const std::int64_t rows = batch.rows.rows();
  const std::int64_t length = batch.rows.longest();
  Batch out{torch::full({rows, length}, padding, torch::kLong),
            torch::full({rows, length}, kIgnoreIndex, torch::kLong),
            RowOffsets::padded(rows, length)};
  for (std::int64_t row = 0; row < rows; ++row) {
    const Batch one = single_row(batch, row);
    out.tokens[row].narrow(0, 0, batch.rows.length(row)).copy_(one.tokens);
    out.labels[row].narrow(0, 0, batch.rows.length(row)).copy_(one.labels);
  }
  return {out.tokens.flatten(), out.labels.flatten(), out.rows};
}

Batch single_row(const Batch& batch, std::int64_t row) {
  const std::int64_t begin = batch.rows.begin(row);
  const std::int64_t length = batch.rows.length(row);
  return {batch.tokens.narrow(0, begin, length), batch.labels.narrow(0, begin, length),
          RowOffsets::padded(1, length)};
}

std::map<std::string, Tensor> published_gradients(const LanguageModel& model) {
  std::map<std::string, Tensor> gradients;
  for (const PublishedWeight& weight : published_weights(model.config())) {
    const Tensor whole = model.weights().at(weight.parameter).grad();
    REQUIRE(whole.defined());
    gradients[weight.name] = whole.narrow(0, weight.first_row, weight.shape.front());
  }
  return gradients;
}

double distance(const Tensor& a, const Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  return (a.to(torch::kDouble) - b.to(torch::kDouble)).abs().max().item<double>();
}

}  // namespace odb
