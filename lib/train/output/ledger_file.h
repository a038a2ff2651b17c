// A rank's ledger on disk, and reading all ledgers of a run. The format: batching/ledger.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/files.h"
#include "batching/audit.h"
#include "batching/ledger.h"

namespace odb {

// Appends records. One thread at a time. FileError as FileSystem; after one, the file stays closed,
// and the next open cuts off what is torn.
class LedgerFile {
 public:
  // Creates the file (its folder exists) or opens it, and cuts off a torn tail with a log line.
  // FileError: not a ledger, another version, damage before the tail.
  LedgerFile(FileSystem& files, const std::string& path);

  // Buffered until 16 KiB are full, sync() or the destructor.
  void append(const LedgerRecord& record);
  // All appended records are durable on return. Call it before writing a manifest that depends on
  // them.
  void sync();

  // Number of the last step in the file when it was opened, 0 if none.
  std::int64_t last_step() const { return last_step_; }

  ~LedgerFile();
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;

 private:
  std::uint64_t open(FileSystem& files, const std::string& path);
  std::uint64_t settle(FileSystem& files, const std::string& path);
  void flush();

  std::int64_t last_step_ = 0;
  std::uint64_t valid_bytes_ = 0;
  OutputFile file_;
  std::string waiting_;
  bool failed_ = false;
};

// Calls `visit` for every record of every rank's file in `folder`, in rank order. Torn tails are
// ignored. FileError: damage, or no ledger in the folder.
void read_ledgers(FileSystem& files, const std::string& folder,
                  const std::function<void(int rank, const LedgerRecord&)>& visit);

// Counts trained, left-out, repeated and missing views of each epoch over all ranks and lives,
// without steps that a later marker voids. Takes a bit per view and epoch. DataError: a view >=
// data_size.
std::map<std::int64_t, EpochCoverage> ledger_coverage(FileSystem& files, const std::string& folder,
                                                      std::int64_t data_size);

}  // namespace odb
