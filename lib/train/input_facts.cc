#include "train/input_facts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/checksum.h"

namespace odb {
namespace {

// Names files by number, because paths may differ.
void add_files(nlohmann::json& facts, const std::string& flag, const SampleSource& source,
               std::size_t number) {
  const RecordSet& records = source.records();
  for (std::size_t i = 0; i < records.files().size(); ++i)
    facts[fmt::format("file {} of {}", number++, flag)] =
        fmt::format("{} rows, checksum {}, weight {}", records.files()[i].rows(),
                    records.files()[i].content_key(), records.weight(i));
}

}  // namespace

std::string input_facts(const TrainingInputs& inputs) {
  nlohmann::json facts;
  add_files(facts, "--data", *inputs.source, 1);
  for (std::size_t i = 0; i < inputs.evaluation.size(); ++i)
    add_files(facts, "--eval-data", *inputs.evaluation[i], i + 1);
  facts["tokenizer and template"] = inputs.source->preprocessor().key();
  // Parsed, so that the order of keys and blanks do not count.
  facts["model's config.json"] =
      to_hex(checksum128(nlohmann::json::parse(inputs.config.json).dump()));
  return facts.dump();
}

}  // namespace odb
