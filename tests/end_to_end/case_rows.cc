#include "case_rows.h"

#include <algorithm>
#include <fstream>
#include <variant>

#include <torch/types.h>

#include "base/error.h"
#include "base/ignore_index.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "data/conversation/record_parser.h"
#include "data/sample/test_tokenizer.h"
#include "model/golden_models.h"
#include "train/output/ledger_file.h"

namespace odb {
namespace {

// What the metrics report of a run up to a step, or of one step.
struct Sums {
  std::int64_t samples = 0;
  std::int64_t tokens = 0;
  std::int64_t supervised = 0;
  double loss = 0;

  void add(const Sample& sample, double sample_loss) {
    ++samples;
    tokens += static_cast<std::int64_t>(sample.tokens.size());
    supervised += sample.supervised;
    loss += sample_loss;
  }
};

CaseRow row_of(const std::string& line, SampleBuilder& builder) {
  CaseRow row;
  RecordBuffer record;
  std::ranges::copy(line, record.resize(line.size()).begin());
  try {
    if (builder.build(record, row.sample) != LeftOutReason::none)
      row.left_out = LeftOutReason::no_supervised_token;
  } catch (const DataError&) {
    row.left_out = LeftOutReason::bad_record;
  }
  return row;
}

struct Ledgers {
  std::map<std::int64_t, std::vector<ViewId>> trained;  // by step, of all ranks
  std::map<ViewId, LeftOutReason> left_out;
  std::map<ViewId, int> times;
};

Ledgers ledgers_of(const TrainerRun& run) {
  RealFileSystem files;
  Ledgers ledgers;
  read_ledgers(files, run.paths().ledgers(), [&](int, const LedgerRecord& record) {
    const auto* step = std::get_if<StepRecord>(&record);
    if (step == nullptr) return;
    CHECK(step->epoch == 0);
    for (const ViewId view : step->trained) {
      ledgers.trained[step->step].push_back(view);
      ++ledgers.times[view];
    }
    for (const LeftOut& row : step->left_out) {
      ledgers.left_out[row.view] = row.reason;
      ++ledgers.times[row.view];
    }
  });
  return ledgers;
}

void check_rows_once(const Ledgers& ledgers, const std::vector<CaseRow>& rows) {
  std::map<ViewId, LeftOutReason> left_out;
  std::map<ViewId, int> once;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto view = static_cast<ViewId>(row);
    once[view] = 1;
    if (rows[row].left_out) left_out[view] = *rows[row].left_out;
  }
  CHECK(ledgers.times == once);
  CHECK((ledgers.left_out == left_out));
}

}  // namespace

std::vector<CaseRow> rows_of(const std::string& path, const RowOptions& options) {
  const TestTokenizer tokenizer(options.tokenizer);
  const auto rendered_by = tokenizer.chat_template(options.chat_template);
  SampleBuilder builder({.cutoff_length = options.cutoff_length}, *rendered_by,
                        tokenizer.new_encoder(), tokenizer.sample_tokens());
  std::vector<CaseRow> rows;
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  for (std::string line; std::getline(file, line);)
    rows.push_back(row_of(line, builder));
  return rows;
}

CaseRow known_row(const std::vector<TokenId>& ids, const std::vector<std::int32_t>& labels) {
  REQUIRE(ids.size() == labels.size());
  CaseRow row;
  row.sample.tokens = ids;
  row.sample.labels = labels;
  row.sample.labels.front() = kIgnoreIndex;
  row.sample.supervised = std::ranges::count_if(
      row.sample.labels, [](std::int32_t label) { return label != kIgnoreIndex; });
  return row;
}

LeftOutLines left_out_lines(const std::vector<CaseRow>& rows) {
  LeftOutLines lines;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (rows[row].left_out) lines[static_cast<std::int64_t>(row) + 1] = *rows[row].left_out;
  return lines;
}

double loss_sum(LanguageModel& model, const Sample& sample) {
  const torch::NoGradGuard no_gradients;
  const std::vector<std::int64_t> ids(sample.tokens.begin(), sample.tokens.end());
  const torch::Tensor tokens = torch::tensor(ids, torch::kLong);
  const torch::Tensor hidden = model.hidden_states(tokens, RowOffsets::padded(1, tokens.size(0)));
  const torch::Tensor likelihood = model.logits(hidden).to(torch::kDouble).log_softmax(1);
  double sum = 0;
  for (std::size_t i = 1; i < ids.size(); ++i)
    if (sample.labels[i] != kIgnoreIndex)
      sum -= likelihood[static_cast<std::int64_t>(i) - 1][sample.labels[i]].item<double>();
  return sum;
}

double mean_loss(LanguageModel& model, const std::vector<CaseRow>& rows) {
  Sums sums;
  for (const CaseRow& row : rows)
    if (!row.left_out) sums.add(row.sample, loss_sum(model, row.sample));
  return sums.loss / static_cast<double>(sums.supervised);
}

void check_against_rows(const TrainerRun& run, const std::vector<CaseRow>& rows,
                        const std::string& model_folder) {
  LanguageModel model = load_model(model_folder);
  const Ledgers ledgers = ledgers_of(run);
  check_rows_once(ledgers, rows);
  Sums all;
  for (const auto& line : run.metrics()) {
    const std::int64_t step = line.at("step");
    INFO("step " << step);
    Sums own;
    for (const ViewId view : ledgers.trained.at(step)) {
      const Sample& sample = rows.at(static_cast<std::size_t>(view)).sample;
      own.add(sample, loss_sum(model, sample));
    }
    CHECK(line.at("loss") == Approx(own.loss / static_cast<double>(own.supervised)).epsilon(1e-5));
    all.samples += own.samples;
    all.tokens += own.tokens;
    all.supervised += own.supervised;
    CHECK(line.at("samples") == all.samples);
    CHECK(line.at("tokens") == all.tokens);
    CHECK(line.at("supervised_tokens") == all.supervised);
  }
  const auto summary = run.summary();
  CHECK(summary.at("steps") == run.metrics().size());
  CHECK(summary.at("samples") == all.samples);
  CHECK(summary.at("supervised_tokens") == all.supervised);
  CHECK(summary.at("left_out_views") == ledgers.left_out.size());
  CHECK(all.samples + static_cast<std::int64_t>(ledgers.left_out.size()) ==
        static_cast<std::int64_t>(rows.size()));
}

}  // namespace odb
