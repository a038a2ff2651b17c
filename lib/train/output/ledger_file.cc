#include "train/output/ledger_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "train/output/run_paths.h"

namespace odb {
namespace {

constexpr std::size_t kWriteAt = 16 * 1024;  // bytes

}  // namespace

LedgerFile::LedgerFile(FileSystem& files, const std::string& path)
    : valid_bytes_(open(files, path)), file_(files.append(path)) {
  if (valid_bytes_ > 0) return;
  files.sync_folder(parent_folder(path));
  waiting_ = ledger_header();
}

LedgerFile::~LedgerFile() {
  try {
    if (!failed_) flush();
  } catch (const Error& error) {
    log("files").warn("{}", error.what());
  }
}

// Makes the folder although rank 0 has done so: an NFS client that looked for it before may go on
// to find nothing for half a minute, and stops that when it makes it itself.
std::uint64_t LedgerFile::open(FileSystem& files, const std::string& path) {
  files.make_folders(parent_folder(path));
  return settle(files, path);
}

// Cuts off a torn record. Returns the number of bytes that remain.
std::uint64_t LedgerFile::settle(FileSystem& files, const std::string& path) {
  if (!files.exists(path)) return 0;
  const std::string bytes = files.read_all(path);
  const std::uint64_t valid = read_ledger(bytes, path, [this](const LedgerRecord& record) {
    if (const auto* step = std::get_if<StepRecord>(&record)) last_step_ = step->step;
  });
  if (valid == bytes.size()) return valid;
  log("files").info("{}: cut off the last {} bytes, an unfinished record", path,
                    bytes.size() - valid);
  files.truncate(path, valid);
  return valid;
}

void LedgerFile::append(const LedgerRecord& record) {
  waiting_ += serialize(record);
  if (waiting_.size() >= kWriteAt) flush();
}

void LedgerFile::sync() {
  flush();
  failed_ = true;
  file_.sync();
  failed_ = false;
}

void LedgerFile::flush() {
  ODB_CHECK(!failed_, "{}: nothing is appended after a failure; open the file again", file_.path());
  failed_ = true;
  file_.write(waiting_);
  waiting_.clear();
  failed_ = false;
}

void read_ledgers(FileSystem& files, const std::string& folder,
                  const std::function<void(int rank, const LedgerRecord&)>& visit) {
  std::vector<std::pair<int, std::string>> found;
  for (const std::string& name : files.list(folder))
    if (const auto rank = parse_rank_name(name, ".bin")) found.emplace_back(*rank, name);
  if (found.empty())
    throw FileError("{}: found no rank-00000.bin; expected the ledger folder of a run", folder);
  std::ranges::sort(found);
  for (const auto& [rank, name] : found) {
    const std::string path = folder + "/" + name;
    read_ledger(files.read_all(path), path,
                [&, rank = rank](const LedgerRecord& record) { visit(rank, record); });
  }
}

std::map<std::int64_t, EpochCoverage> ledger_coverage(FileSystem& files, const std::string& folder,
                                                      std::int64_t data_size) {
  std::vector<LifeMarker> markers;
  read_ledgers(files, folder, [&](int rank, const LedgerRecord& record) {
    const auto* marker = std::get_if<LifeMarker>(&record);
    if (rank == 0 && marker != nullptr) markers.push_back(*marker);
  });
  LedgerAudit audit(data_size, std::move(markers));
  read_ledgers(files, folder, [&](int rank, const LedgerRecord& record) {
    if (const auto* step = std::get_if<StepRecord>(&record)) audit.add(rank, *step);
  });
  return audit.coverage();
}

}  // namespace odb
