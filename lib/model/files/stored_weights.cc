#include "model/files/stored_weights.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/json_reader.h"
#include "model/files/weight_names.h"

namespace odb {
namespace {

constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr std::size_t kShownProblems = 10;

void add_file(FileSystem& files, const std::string& path, StoredWeights& stored) {
  for (TensorInfo& tensor : read_safetensors_header(files, path).tensors) {
    const std::string name = tensor.name;
    const auto [place, added] = stored.try_emplace(name, StoredTensor{path, std::move(tensor)});
    if (!added) throw FileError("tensor {} is in both {} and {}", name, place->second.path, path);
  }
}

StoredWeights open_shards(FileSystem& files, const std::string& folder, const std::string& index) {
  const auto file_of = parse_weight_index(files.read_all(index), index);
  std::set<std::string> names;
  for (const auto& [tensor, file] : file_of)
    names.insert(file);
  StoredWeights stored;
  for (const std::string& name : names) {
    const std::string path = join_path(folder, name);
    if (!files.exists(path))
      throw FileError("{}: names {}, which was not found; copy or download it again", index, path);
    add_file(files, path, stored);
  }
  for (const auto& [tensor, file] : file_of) {
    const auto found = stored.find(tensor);
    if (found == stored.end() || found->second.path != join_path(folder, file))
      throw FileError("{}: tensor {} was not found in {}", index, tensor, file);
  }
  for (const auto& [tensor, place] : stored)
    if (!file_of.contains(tensor))
      throw FileError("{}: tensor {} is not in {}", place.path, tensor, index);
  return stored;
}

// A single file next to an index: both must be of the same model.
void check_index_beside(FileSystem& files, const std::string& single, const std::string& index,
                        const StoredWeights& stored) {
  const auto file_of = parse_weight_index(files.read_all(index), index);
  const auto refuse = [&](const std::string& tensor, const std::string& has,
                          const std::string& lacks) {
    throw FileError(
        "{} and {} are of different models: tensor {} is only in {}, not in {}; remove the file "
        "that is not of this model",
        single, index, tensor, has, lacks);
  };
  for (const auto& [tensor, place] : stored)
    if (!file_of.contains(tensor)) refuse(tensor, single, index);
  for (const auto& [tensor, file] : file_of)
    if (!stored.contains(tensor)) refuse(tensor, index, single);
}

// Wrappers of torch (compile, DataParallel) put these before every name.
constexpr std::array<std::string_view, 2> kWrapperPrefixes = {"_orig_mod.", "module."};

// Drops prefixes that all names have. The tensors keep their names in the files.
StoredWeights without_wrapper_prefixes(StoredWeights stored) {
  for (bool dropped = true; dropped && !stored.empty();) {
    dropped = false;
    for (const std::string_view prefix : kWrapperPrefixes) {
      if (!std::ranges::all_of(
              stored, [&](const auto& tensor) { return tensor.first.starts_with(prefix); }))
        continue;
      StoredWeights shorter;
      for (auto& [name, tensor] : stored)
        shorter.emplace(name.substr(prefix.size()), std::move(tensor));
      stored = std::move(shorter);
      dropped = true;
    }
  }
  return stored;
}

// The prefix that was dropped from all names; empty: none.
std::string dropped_prefix(const StoredWeights& stored) {
  if (stored.empty()) return "";
  const auto& [name, tensor] = *stored.begin();
  const std::string& in_file = tensor.info.name;
  if (in_file.size() <= name.size() || !in_file.ends_with(name)) return "";
  return in_file.substr(0, in_file.size() - name.size());
}

// What stands in place of missing tensors, when the list of problems would not show it.
std::string found_instead(std::size_t missing, std::size_t expected,
                          const std::vector<std::string>& others) {
  return fmt::format(
      "{} of the {} tensors that config.json describes are missing; found {}", missing, expected,
      others.empty()
          ? "no others in the files"
          : fmt::format("{} others: {}", others.size(), fmt::join(first_of(others), ", ")));
}

}  // namespace

std::map<std::string, std::string> parse_weight_index(std::string_view json,
                                                      const std::string& where) {
  const SortedJson object = parse_strict_table(json, where);
  const auto names = object.find("weight_map");
  if (names == object.end() || !names->is_object() || names->empty())
    throw FileError("{}: weight_map: found {}, expected an object of tensor and file names", where,
                    names == object.end() ? "nothing" : found_json(*names));
  std::map<std::string, std::string> files;
  for (const auto& [tensor, file] : names->items()) {
    const std::string name = file.is_string() ? file.get<std::string>() : "";
    const bool plain = name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos &&
                       !name.starts_with(".") && name.ends_with(".safetensors");
    if (!plain)
      throw FileError(
          "{}: tensor {}: found {}, expected the name of a .safetensors file in the "
          "same folder",
          where, tensor, found_json(file));
    files[tensor] = name;
  }
  return files;
}

bool holds_weights(FileSystem& files, const std::string& folder) {
  return files.exists(join_path(folder, std::string(kSingle))) ||
         files.exists(join_path(folder, std::string(kIndex)));
}

StoredWeights open_stored_weights(FileSystem& files, const std::string& folder) {
  const std::string single = join_path(folder, std::string(kSingle));
  const std::string index = join_path(folder, std::string(kIndex));
  if (files.exists(single)) {
    StoredWeights stored;
    add_file(files, single, stored);
    if (files.exists(index)) check_index_beside(files, single, index, stored);
    return without_wrapper_prefixes(std::move(stored));
  }
  if (files.exists(index)) return without_wrapper_prefixes(open_shards(files, folder, index));
  throw FileError(
      "{}: found neither {} nor {}; other formats are not read, save the model as "
      "safetensors",
      folder, kSingle, kIndex);
}

WeightCheck check_weights(const ModelConfig& config, const StoredWeights& stored) {
  WeightCheck check;
  std::set<std::string> known;
  std::size_t missing = 0;
  for (const PublishedWeight& expected : published_weights(config)) {
    known.insert(expected.name);
    const auto found = stored.find(expected.name);
    if (found == stored.end()) {
      ++missing;
      check.problems.push_back(
          fmt::format("tensor {} {} is missing", expected.name, shape_text(expected.shape)));
      continue;
    }
    const auto& [path, info] = found->second;
    if (info.shape != expected.shape)
      check.problems.push_back(fmt::format("{}: tensor {}: found shape {}, config.json expects {}",
                                           path, expected.name, shape_text(info.shape),
                                           shape_text(expected.shape)));
    if (!is_weight_type(info.type))
      check.problems.push_back(fmt::format("{}: tensor {}: found {}, expected F32, BF16 or F16",
                                           path, expected.name, name(info.type)));
  }
  std::vector<std::string> others;
  for (const auto& [name, place] : stored) {
    if (known.contains(name) || is_rebuilt(name)) continue;
    others.push_back(place.info.name);
    if (config.tied_embeddings && name == kHeadName)
      check.warnings.push_back(
          fmt::format("{}: {} is not used: config.json ties the output head "
                      "to the embedding",
                      place.path, name));
    else
      check.problems.push_back(
          fmt::format("{}: tensor {} is not part of the model that config.json "
                      "describes",
                      place.path, name));
  }
  if (missing == known.size() || missing > kShownProblems)
    check.problems.insert(check.problems.begin(), found_instead(missing, known.size(), others));
  if (const std::string prefix = dropped_prefix(stored); !prefix.empty())
    check.warnings.push_back(
        fmt::format("{}: the tensors' names begin with '{}', which is left out",
                    stored.begin()->second.path, prefix));
  return check;
}

TensorType type_of_weights(const ModelConfig& config, const StoredWeights& stored) {
  std::set<TensorType> types;
  for (const PublishedWeight& weight : published_weights(config))
    if (const auto found = stored.find(weight.name); found != stored.end())
      types.insert(found->second.info.type);
  return types.size() == 1 ? *types.begin() : TensorType::f32;
}

std::vector<std::string> first_of(const std::vector<std::string>& found) {
  std::vector<std::string> shown(
      found.begin(),
      found.begin() + static_cast<std::ptrdiff_t>(std::min(kShownProblems, found.size())));
  if (found.size() > kShownProblems)
    shown.push_back(fmt::format("and {} more", found.size() - kShownProblems));
  return shown;
}

void require_weights(const WeightCheck& check, const std::string& folder) {
  if (check.problems.empty()) return;
  throw FileError("{}: the weights do not fit config.json:\n  {}", folder,
                  fmt::join(first_of(check.problems), "\n  "));
}

}  // namespace odb
