#include "train/session/failure_report.h"

#include <fmt/format.h>

#include "base/amount.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr const char* kFailure = "failure";
constexpr const char* kReaders = "failure/readers";
constexpr const char* kAllRead = "failure/all-read";

void count_reader(Store& store, int reader, int world) {
  try {
    if (store.add(fmt::format("{}/{}", kReaders, reader), 1) == 1 &&
        store.add(kReaders, 1) == world)
      store.set(kAllRead, "1");
  } catch (const PeerLostError&) {  // the host may leave once it has counted this rank
  }
}

}  // namespace

void report_failure(Store& store, const Failure& failure) {
  store.set_once(kFailure, fmt::format("{} {} {}", failure.rank, static_cast<int>(failure.code),
                                       failure.message));
}

std::optional<Failure> find_failure(Store& store, int reader, int world,
                                    std::chrono::milliseconds limit) {
  try {
    if (limit.count() > 0 && !store.wait_for(kFailure, limit)) return std::nullopt;
    const std::string text = store.find(kFailure).value_or("");
    const std::size_t first = text.find(' ');
    const std::size_t second = text.find(' ', first + 1);
    if (second == std::string::npos) return std::nullopt;
    const auto rank = parse_integer<int>(text.substr(0, first));
    const auto code = parse_integer<int>(text.substr(first + 1, second - first - 1));
    if (!rank || !code) return std::nullopt;
    count_reader(store, reader, world);
    return Failure{
        .code = static_cast<ExitCode>(*code), .rank = *rank, .message = text.substr(second + 1)};
  } catch (const PeerLostError&) {
    return std::nullopt;
  }
}

bool await_readers(Store& store, std::chrono::milliseconds limit) {
  return store.wait_for(kAllRead, limit);
}

void WaitToReport::update(std::chrono::nanoseconds waited) {
  constexpr std::chrono::seconds kLogAfter{5};
  constexpr std::chrono::seconds kLogStopAfter{1};
  const bool is_stop = failure_.code == ExitCode::saved;
  if (waited < (is_stop ? kLogStopAfter : kLogAfter) || std::exchange(logged_, true)) return;
  log("train").error("{}; waiting to report this to the other ranks, for at most {}{}",
                     failure_.message, print_duration(limit_),
                     is_stop ? "; a second Ctrl-C ends this" : "");
}

}  // namespace odb
