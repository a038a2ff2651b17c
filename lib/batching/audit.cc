#include "batching/audit.h"

#include <algorithm>

#include "base/error.h"

namespace odb {
namespace {
constexpr std::size_t kMaxExamples = 20;
}

LedgerAudit::LedgerAudit(std::int64_t data_size, std::vector<LifeMarker> markers)
    : data_size_(data_size), markers_(std::move(markers)) {}

bool LedgerAudit::stands(const StepRecord& record) const {
  return std::none_of(markers_.begin(), markers_.end(), [&](const LifeMarker& marker) {
    return record.life < marker.life &&
           (record.step > marker.resumed_step ||
            (record.ends_epoch && record.epoch >= marker.resumed_epoch));
  });
}

void LedgerAudit::see(Epoch& epoch, ViewId view, int rank, const StepRecord& record) const {
  if (view < 0 || view >= data_size_)
    throw DataError(
        "ledger of rank {}, step {}: found view {}, the data has {} samples; the ledger belongs "
        "to other data",
        rank, record.step, view, data_size_);
  const auto index = static_cast<std::size_t>(view);
  if (epoch.seen[index]) {
    ++epoch.found.repeated;
    if (epoch.found.repeated_examples.size() < kMaxExamples)
      epoch.found.repeated_examples.push_back(view);
  }
  epoch.seen[index] = true;
}

void LedgerAudit::add(int rank, const StepRecord& record) {
  if (!stands(record)) {
    ++void_steps_;
    return;
  }
  Epoch& epoch = epochs_[record.epoch];
  epoch.seen.resize(static_cast<std::size_t>(data_size_));
  for (const ViewId view : record.trained)
    see(epoch, view, rank, record);
  for (const LeftOut& row : record.left_out) {
    see(epoch, row.view, rank, record);
    ++epoch.found.left_out[row.reason];
  }
  epoch.found.trained += static_cast<std::int64_t>(record.trained.size());
}

std::map<std::int64_t, EpochCoverage> LedgerAudit::coverage() const {
  std::map<std::int64_t, EpochCoverage> result;
  for (const auto& [number, epoch] : epochs_) {
    EpochCoverage found = epoch.found;
    for (std::size_t view = 0; view < epoch.seen.size(); ++view) {
      if (epoch.seen[view]) continue;
      ++found.missing;
      if (found.missing_examples.size() < kMaxExamples)
        found.missing_examples.push_back(static_cast<ViewId>(view));
    }
    result.emplace(number, std::move(found));
  }
  return result;
}

}  // namespace odb
