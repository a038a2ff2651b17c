// The expected result of a training on a file of cases, computed here row by row: which rows are
// trained, as which tokens, and the loss of each.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "batching/item.h"
#include "data/sample/sample.h"
#include "model/language_model.h"
#include "trainer_runs.h"

namespace odb {

inline const std::string kCases = ODB_TESTS_FOLDER "/cases/";
inline const std::string kBaseModel = kCases + "models/base";

// A row is a view of the run: a line of the file or, with several files, of the files in order.
struct CaseRow {
  std::optional<LeftOutReason> left_out;  // nothing: `sample` is trained
  Sample sample = {};
};

struct RowOptions {
  std::string tokenizer = kCases + "tokenizer/merges_pairs";
  std::string chat_template = "chatml";
  std::int64_t cutoff_length = 0;
};

// The rows of a file that ends its lines with line feeds, each made into a sample by itself.
std::vector<CaseRow> rows_of(const std::string& path, const RowOptions& options = {});
// A row whose ids and labels are known.
CaseRow known_row(const std::vector<TokenId>& ids, const std::vector<std::int32_t>& labels);

// Rows left out, by line number from 1.
using LeftOutLines = std::map<std::int64_t, LeftOutReason>;
LeftOutLines left_out_lines(const std::vector<CaseRow>& rows);

// Token losses of a row: the log softmax of all logits, in fp64, summed over what is supervised.
double loss_sum(LanguageModel& model, const Sample& sample);

// Checks a finished run of one epoch at learning rate 0 against its rows. The ledgers must name
// every row once, trained or left out as expected. Each step of the metrics, and the summary, must
// have the samples, tokens and supervised tokens of the rows that the ledgers name for it, and
// their loss row by row, with each token counting the same.
void check_against_rows(const TrainerRun& run, const std::vector<CaseRow>& rows,
                        const std::string& model_folder = kBaseModel);

// The mean loss of a supervised token over all rows.
double mean_loss(LanguageModel& model, const std::vector<CaseRow>& rows);

}  // namespace odb
