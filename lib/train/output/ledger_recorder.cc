#include "train/output/ledger_recorder.h"

namespace odb {

LedgerRecorder::LedgerRecorder(FileSystem& files, const LedgerRecorderOptions& options)
    : life_(options.life), ledger_(files, options.paths.ledger(options.rank)) {
  if (options.rank == 0)
    ledger_.append(LifeMarker{.life = life_, .world = options.world, .resumed_step = 0});
}

void LedgerRecorder::end_step(const FinishedStep& step) {
  ledger_.append(StepRecord{.life = life_,
                            .epoch = step.epoch,
                            .step = step.step,
                            .trained = step.views,
                            .left_out = step.left_out});
}

void LedgerRecorder::end_epoch(const FinishedStep& rest) {
  if (rest.left_out.empty()) return;
  ledger_.append(StepRecord{.life = life_,
                            .epoch = rest.epoch,
                            .step = rest.step,
                            .trained = {},
                            .left_out = rest.left_out,
                            .ends_epoch = true});
}

void LedgerRecorder::begin_save(const RunTotals&) {
  sync();
}

}  // namespace odb
