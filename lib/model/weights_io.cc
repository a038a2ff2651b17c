#include "model/weights_io.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <ATen/Parallel.h>

#include "base/error.h"
#include "base/index.h"
#include "base/json_reader.h"
#include "base/log.h"
#include "model/cpu/row_kernels.h"
#include "model/files/weight_names.h"
#include "model/language_model.h"

namespace odb {
namespace {

using torch::Tensor;

torch::ScalarType scalar_type(TensorType type) {
  switch (type) {
    case TensorType::f32:
      return torch::kFloat;
    case TensorType::bf16:
      return torch::kBFloat16;
    case TensorType::f16:
      return torch::kHalf;
    default:
      throw InternalError("{} is not a weight type", name(type));
  }
}

// A range of a stored tensor and where its values go.
struct Piece {
  const StoredTensor* stored;
  float* to;
  std::uint64_t first;  // value
  std::uint64_t count;
};
constexpr std::uint64_t kPieceValues = 1 << 18;

void to_fp32(const std::string& bytes, TensorType type, float* to) {
  const auto count = static_cast<std::int64_t>(bytes.size() / 2);
  if (type == TensorType::bf16) {
    row::bf16_to_fp32(reinterpret_cast<const c10::BFloat16*>(bytes.data()), to, count);
    return;
  }
  const auto* halves = reinterpret_cast<const c10::Half*>(bytes.data());
  std::copy(halves, halves + count, to);
}

void read_piece(const InputFile& file, const Piece& piece, std::string& buffer) {
  const TensorInfo& info = piece.stored->info;
  const std::uint64_t size = bytes_per_element(info.type);
  const std::uint64_t offset = info.begin + piece.first * size;
  std::span<char> into(reinterpret_cast<char*>(piece.to), piece.count * size);
  if (info.type != TensorType::f32) {
    buffer.resize(piece.count * size);
    into = buffer;
  }
  if (file.read_at(offset, into) != into.size())
    throw FileError("{}: tensor {}: the file was cut while it was read", file.path(), info.name);
  if (info.type != TensorType::f32) to_fp32(buffer, info.type, piece.to);
}

void read_pieces(FileSystem& files, const std::vector<Piece>& pieces) {
  at::parallel_for(0, static_cast<std::int64_t>(pieces.size()), 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     std::string buffer;
                     std::optional<InputFile> file;
                     for (std::int64_t i = begin; i < end; ++i) {
                       const Piece& piece = at(pieces, i);
                       if (!file || file->path() != piece.stored->path)
                         file.emplace(files, piece.stored->path);
                       read_piece(*file, piece, buffer);
                     }
                   });
}

void add_pieces(const StoredTensor& stored, float* to, std::vector<Piece>& pieces) {
  const std::uint64_t count = stored.info.bytes() / bytes_per_element(stored.info.type);
  for (std::uint64_t first = 0; first < count; first += kPieceValues)
    pieces.push_back({&stored, to + first, first, std::min(kPieceValues, count - first)});
}

}  // namespace

void load_weights(FileSystem& files, const std::string& folder, LanguageModel& model) {
  const torch::NoGradGuard no_gradients;
  const StoredWeights stored = open_stored_weights(files, folder);
  const WeightCheck check = check_weights(model.config(), stored);
  require_weights(check, folder);
  for (const std::string& warning : check.warnings)
    log("model").warn("{}", warning);
  std::vector<Piece> pieces;
  for (const PublishedWeight& weight : published_weights(model.config())) {
    const StoredTensor& from = stored.at(weight.name);
    Tensor rows =
        model.weights().at(weight.parameter).narrow(0, weight.first_row, weight.shape.front());
    if (rows.device().is_cpu()) {
      add_pieces(from, rows.mutable_data_ptr<float>(), pieces);
      continue;
    }
    const Tensor host = torch::empty(weight.shape, torch::kFloat);
    std::vector<Piece> own;
    add_pieces(from, host.mutable_data_ptr<float>(), own);
    read_pieces(files, own);
    rows.copy_(host);
  }
  read_pieces(files, pieces);
}

void require_finite(const LanguageModel& model, const std::string& folder) {
  const torch::NoGradGuard no_gradients;
  for (const PublishedWeight& weight : published_weights(model.config())) {
    const Tensor rows =
        model.weights().at(weight.parameter).narrow(0, weight.first_row, weight.shape.front());
    // A sum needs no memory, and is finite only where all values are.
    if (std::isfinite(rows.sum().item<double>())) continue;
    const auto others = rows.isfinite().logical_not().sum().item<std::int64_t>();
    if (others > 0)
      throw FileError(
          "{}: tensor {}: found {} of {} values that are not finite (nan or inf), expected none; "
          "the files are damaged, or from a diverged training: get them again",
          folder, weight.name, others, rows.numel());
  }
}

namespace {

// Which published weights go into which file: in order, a new file when the next one does not fit.
std::vector<std::vector<TensorToWrite>> split_into_shards(
    const ModelConfig& config, const std::map<std::string, Tensor>& weights,
    const SaveOptions& options, Tensor& ready) {
  std::vector<std::vector<TensorToWrite>> shards(1);
  std::uint64_t filled = 0;
  for (const PublishedWeight& weight : published_weights(config)) {
    const Tensor rows =
        weights.at(weight.parameter).detach().narrow(0, weight.first_row, weight.shape.front());
    const auto bytes = [rows, name = weight.name, options_type = options.type,
                        type = scalar_type(options.type), &ready] {
      ready = rows.to(torch::kCPU, type).contiguous();
      if (type != rows.scalar_type() && !ready.isfinite().all().item<bool>() &&
          rows.isfinite().all().item<bool>())
        throw FileError("{}: a value exceeds the range of {}; write it in another type", name,
                        odb::name(options_type));
      return std::string_view(static_cast<const char*>(ready.const_data_ptr()), ready.nbytes());
    };
    TensorToWrite tensor{weight.name, options.type, weight.shape, bytes};
    if (filled > 0 &&
        filled + tensor.size() > static_cast<std::uint64_t>(options.max_shard_bytes)) {
      shards.emplace_back();
      filled = 0;
    }
    filled += tensor.size();
    shards.back().push_back(std::move(tensor));
  }
  return shards;
}

}  // namespace

void save_model(FileSystem& files, const std::string& folder, const ModelConfig& config,
                const std::map<std::string, Tensor>& weights, const SaveOptions& options) {
  const std::map<std::string, std::string> metadata = {
      {"format", "pt"}};  // transformers asks for it
  Tensor ready;
  const auto shards = split_into_shards(config, weights, options, ready);
  files.make_folders(folder);
  Json index = {{"metadata", {{"total_size", 0}}}, {"weight_map", Json::object()}};
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::string name =
        shards.size() == 1 ? "model.safetensors"
                           : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size());
    write_safetensors(files, join_path(folder, name), shards[i], metadata);
    for (const TensorToWrite& tensor : shards[i]) {
      append(index["weight_map"], tensor.name, name);
      total += tensor.size();
    }
  }
  index["metadata"]["total_size"] = total;
  if (shards.size() > 1)
    files.write_durably(join_path(folder, "model.safetensors.index.json"), index.dump(2) + "\n");
  const bool is_16_bit = options.type != TensorType::f32;
  const char* dtype = options.type == TensorType::bf16 ? "bfloat16"
                      : is_16_bit                      ? "float16"
                                                       : "float32";
  files.write_durably(join_path(folder, "config.json"), config_json_with_dtype(config, dtype));
}

}  // namespace odb
