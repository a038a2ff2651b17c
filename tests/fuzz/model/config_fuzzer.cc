// Any bytes as config.json and as the index of a sharded model: a configuration for which all
// derived numbers can be computed, or a FileError.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "model/cost.h"
#include "model/files/stored_weights.h"
#include "model/files/weight_names.h"
#include "model/layers/rope_frequencies.h"

namespace {

void survive_config(std::string_view json) {
  using namespace odb;
  try {
    const ModelConfig config = parse_model_config(json, "f");
    ODB_CHECK_EQ(config.heads % config.key_value_heads, 0);
    ODB_CHECK_EQ(rope_frequencies(config, 1 << 20).size(),
                 static_cast<std::size_t>(config.head_size / 2));
    if (config.layers > 8) return;  // names of thousands of layers add nothing
    ODB_CHECK_GT(parameter_count(config), 0);
    ODB_CHECK_GT(estimate_memory(config, {}, 8192).total(), 0);
    ODB_CHECK(!check_weights(config, {}).problems.empty(), "no weights, and no problem");
  } catch (const FileError&) {
  }
}

void survive_index(std::string_view json) {
  using namespace odb;
  try {
    for (const auto& [tensor, file] : parse_weight_index(json, "f"))
      ODB_CHECK(file.find('/') == std::string::npos, "{} leaves the folder", file);
  } catch (const FileError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  survive_config(json);
  survive_index(json);
  return 0;
}
