#include "train/output/optimizer_file.h"

#include <memory>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "model/files/safetensors.h"

namespace odb {
namespace {

constexpr const char* kUpdates = "updates";

std::string path_in(const std::string& folder) {
  return join_path(folder, "state.safetensors");
}

}  // namespace

void write_optimizer_state(FileSystem& files, const std::string& folder,
                           const OptimizerState& state) {
  files.make_folders(folder);
  std::vector<TensorToWrite> tensors;
  for (const auto& [name, tensor] : state.tensors) {
    // On the host only while it is written.
    auto host = std::make_shared<torch::Tensor>();
    tensors.push_back({.name = name,
                       .type = TensorType::f32,
                       .shape = tensor.sizes().vec(),
                       .bytes = [tensor, host] {
                         *host = tensor.cpu().contiguous();
                         return std::string_view(static_cast<const char*>(host->const_data_ptr()),
                                                 host->nbytes());
                       }});
  }
  write_safetensors(files, path_in(folder), tensors, {{kUpdates, std::to_string(state.updates)}});
}

OptimizerState read_optimizer_state(FileSystem& files, const std::string& folder) {
  const std::string path = path_in(folder);
  const SafetensorsHeader header = read_safetensors_header(files, path);
  const auto found = header.metadata.find(kUpdates);
  const auto updates =
      found == header.metadata.end() ? std::nullopt : parse_integer<std::int64_t>(found->second);
  if (!updates || *updates < 0)
    throw FileError("{}: found no number of updates in its metadata; expected an optimizer's state",
                    path);
  OptimizerState state{.tensors = {}, .updates = *updates};
  const InputFile file(files, path);
  for (const TensorInfo& info : header.tensors) {
    if (info.type != TensorType::f32)
      throw FileError("{}: tensor {} is {}, expected F32", path, info.name, name(info.type));
    const torch::Tensor tensor = torch::empty(info.shape, torch::kFloat);
    const std::span<char> into(static_cast<char*>(tensor.mutable_data_ptr()), tensor.nbytes());
    if (file.read_at(info.begin, into) != into.size())
      throw FileError("{}: tensor {}: the file was cut while it was read", path, info.name);
    state.tensors.emplace(info.name, tensor);
  }
  return state;
}

}  // namespace odb
