#include "train/training_inputs.h"

#include <filesystem>
#include <limits>

#include "base/bytes.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress_bar.h"
#include "data/loader/record_loader.h"
#include "data/sample/show_sample.h"
#include "model/cost.h"
#include "model/files/stored_weights.h"
#include "train/length_check.h"
#include "train/output/run_folder.h"
#include "train/session/stop_check.h"
#include "train/step/device.h"
#include "train/step/schedule.h"
#include "train/taught_answers.h"

namespace odb {
namespace {

constexpr std::int64_t kEndless = std::int64_t{1} << 40;  // epochs

void check_vocabulary(const SampleSource& source, const ModelConfig& config) {
  const auto ids = static_cast<std::int64_t>(source.preprocessor().tokenizer().size());
  if (ids > config.vocabulary_size)
    throw UsageError(
        "the tokenizer {} has {} ids, the model's embedding {} rows (vocab_size of its "
        "config.json); expected a tokenizer that fits the model",
        source.preprocessor().options().tokenizer, ids, config.vocabulary_size);
}

void check_weights_of(FileSystem& files, const ModelOptions& options, const ModelConfig& config) {
  if (options.init == Initialization::random) return;
  require_weights(check_weights(config, open_stored_weights(files, options.model)), options.model);
}

Sample first_sample(const LoaderSetup& loader) {
  const auto builder = loader.builder();
  Sample sample;
  for (std::int64_t view = 0; view < loader.shape.data_size; ++view) {
    throw_if_stop_requested();
    if (builder->build(view, 0, sample).left_out == LeftOutReason::none) return sample;
  }
  throw DataError(
      "no sample can be trained: all {} rows are left out; see odb-trainer inspect data for the "
      "reasons",
      loader.shape.data_size);
}

// Planned now, so that a save cannot fail for what a file of the base model holds.
AnswerFiles answers_of(FileSystem& files, const TrainingInputs& inputs) {
  const std::string& tokenizer = inputs.options.data.tokenizer;
  const AnswerFormat format = taught_answers(*inputs.source, inputs.loaders.front());
  AnswerFiles answers = plan_answer_files(
      files, inputs.options.model.model,
      files.is_folder(tokenizer) ? tokenizer : parent_folder(tokenizer), inputs.config, format);
  if (answers.empty()) return answers;
  const std::string& text = format.eos_token;
  log("model").info(
      "the files of checkpoints name what this run trains and the base model's do not: end token "
      "{}{}",
      text.empty() ? std::to_string(format.end_tokens.front()) : "'" + text + "'",
      format.chat_template.empty()
          ? ""
          : ", chat template " + inputs.source->preprocessor().template_name());
  return answers;
}

LoaderSetup training_loader(const TrainingInputs& inputs, const BatchingOptions& batching) {
  LoaderSetup loader =
      record_loader(*inputs.source, batching, inputs.options.loader, inputs.launch.rank,
                    inputs.launch.world, with_stop_checks(terminal_progress("measuring")));
  const std::int64_t size = inputs.limits.data_size;
  loader.timeout = inputs.options.ranks.timeout;
  loader.epochs = inputs.limits.views ? (*inputs.limits.views + size - 1) / size : kEndless;
  (void)start_of_epoch(loader.epoch(0), inputs.launch.rank, inputs.launch.world);
  return loader;
}

// Always ODB with join, because the loss does not depend on how batches are formed.
LoaderSetup evaluation_loader(const TrainingInputs& inputs, const SampleSource& source,
                              std::size_t number) {
  BatchingOptions batching;
  batching.l_max = inputs.options.batching.l_max;
  batching.layout = inputs.options.batching.layout;
  batching.pad_multiple = inputs.options.batching.pad_multiple;
  LoaderSetup loader = record_loader(source, resolve(batching, Layout::flat), inputs.options.loader,
                                     inputs.launch.rank, inputs.launch.world);
  loader.name = fmt::format("evaluation {}", number);
  loader.at_start = false;
  loader.timeout = inputs.options.ranks.timeout;
  return loader;
}

}  // namespace

void require_memory(const TrainingInputs& inputs, std::uint64_t available,
                    const std::string& place) {
  const MemoryEstimate& memory = inputs.memory;
  if (available == 0 || static_cast<std::uint64_t>(memory.total()) <= available) return;
  const auto size = [](std::int64_t bytes) {
    return format_bytes(static_cast<std::uint64_t>(bytes));
  };
  throw UsageError(
      "training needs about {} a rank, {} has {}: weights {}, gradients {}, optimizer {}, bf16 "
      "copies {}, activations {} and working space {} at {} tokens a micro-batch, the process {}; "
      "try --recompute block, a "
      "smaller {} or --cutoff-len, or --dtype bf16",
      size(memory.total()), place, format_bytes(available), size(memory.weights),
      size(memory.gradients), size(memory.optimizer), size(memory.copies), size(memory.activations),
      size(memory.working), inputs.max_tokens, size(memory.process),
      keeps_budget(inputs.options.batching.strategy) ? "--l-max" : "--batch-size");
}

// Places in a batch are counted with 32 bits.
void require_countable(const TrainingInputs& inputs) {
  if (inputs.max_tokens <= std::numeric_limits<std::int32_t>::max()) return;
  throw UsageError(
      "a micro-batch may have {} tokens with padding, at most {} are possible; lower {} or "
      "--cutoff-len",
      inputs.max_tokens, std::numeric_limits<std::int32_t>::max(),
      keeps_budget(inputs.options.batching.strategy) ? "--l-max" : "--batch-size");
}

// The run must not read what it would remove.
void check_overwrite(const RunOptions& options) {
  if (!options.files.overwrite) return;
  namespace fs = std::filesystem;
  const auto absolute = [](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path)).string() + "/";
  };
  const std::string output = absolute(options.files.output);
  std::vector<std::string> read = options.data.data;
  read.insert(read.end(), options.evaluation.eval_data.begin(), options.evaluation.eval_data.end());
  read.push_back(options.model.model);
  read.push_back(options.data.tokenizer);
  for (const std::string& path : read)
    if (!path.empty() && absolute(path).starts_with(output))
      throw UsageError(
          "--overwrite on would remove {}, which this run reads, with the run in --output {}; give "
          "another --output",
          path, options.files.output);
}

TrainingInputs prepare_training(FileSystem& files, const RunOptions& given,
                                const LaunchConfig& launch) {
  TrainingInputs inputs;
  inputs.options = given;
  check_overwrite(given);
  require_output(files, given.files.output);
  inputs.launch = launch;
  require_device(given.ranks.device, launch.local_rank);
  RunOptions& options = inputs.options;
  inputs.config = read_model_config(files, options.model.model);
  check_weights_of(files, options.model, inputs.config);
  if (options.data.tokenizer.empty())
    options.data.tokenizer = tokenizer_of_model(files, options.model.model);
  options.batching.quadratic_cost = quadratic_cost(inputs.config);
  options.batching = resolve(options.batching, Layout::flat);

  const IndexBuild build{.progress = with_stop_checks(terminal_progress("indexing"))};
  inputs.source = std::make_unique<SampleSource>(files, options.data, options.loader.seed, build);
  if (launch.rank == 0) {
    inputs.source->preprocessor().log_choices();
    if (options.model.init == Initialization::random && holds_weights(files, options.model.model))
      log("model").warn("--init random: the weights in --model {} are not used",
                        options.model.model);
    if (const std::string warning = why_too_long(*inputs.source, inputs.config.max_length);
        !warning.empty())
      log("data").warn("{}", warning);
  }
  check_vocabulary(*inputs.source, inputs.config);
  inputs.limits =
      run_limits(options.length, static_cast<std::int64_t>(inputs.source->records().views()));
  inputs.max_tokens = max_padded_tokens(options.batching, longest_sample(*inputs.source));
  require_countable(inputs);
  inputs.memory = estimate_memory(inputs.config, options.model, inputs.max_tokens);
  inputs.loaders.push_back(training_loader(inputs, options.batching));
  inputs.first_sample = first_sample(inputs.loaders.front());
  if (launch.rank == 0) inputs.answers = answers_of(files, inputs);
  for (const std::string& data : options.evaluation.eval_data)
    try {
      inputs.evaluation.push_back(std::make_unique<SampleSource>(
          files, *inputs.source, std::vector{data}, options.loader.seed, build));
      inputs.loaders.push_back(
          evaluation_loader(inputs, *inputs.evaluation.back(), inputs.evaluation.size()));
      (void)first_sample(inputs.loaders.back());
    } catch (const StoppedBeforeTraining&) {
      throw;
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("--eval-data {}: {}", data, error.what()));
    }
  return inputs;
}

void log_start(const TrainingInputs& inputs, const std::string& config) {
  log("train").info("the options of this run:\n{}", config);
  log("data").info("the first sample, {} tokens, {} of them supervised (marked):\n{}",
                   inputs.first_sample.tokens.size(), inputs.first_sample.supervised,
                   show_sample(inputs.first_sample, inputs.source->preprocessor().tokenizer(),
                               Highlight::marks));
  const std::string warning = why_nothing_is_learned(inputs.options.optimizer, inputs.limits);
  if (!warning.empty()) log("train").warn("{}", warning);
}

}  // namespace odb
