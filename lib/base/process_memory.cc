#include "base/process_memory.h"

#include <vector>

#include <fmt/format.h>

#include "base/real_file_system.h"
#include "base/text.h"

namespace odb {
namespace {

std::uint64_t kilobytes(std::string_view number) {
  return parse_integer<std::uint64_t>(number).value_or(0) * 1024;
}

}  // namespace

PrivateMemory private_memory(FileSystem& files, pid_t process) {
  return parse_private_memory(read_if_there(files, fmt::format("/proc/{}/smaps", process)));
}

PrivateMemory parse_private_memory(std::string_view smaps) {
  PrivateMemory memory;
  bool shared_memory = false;
  for (const std::string_view line : split_lines(smaps)) {
    const std::vector<std::string_view> words = split_words(line);
    if (words.size() < 2) continue;
    if (!words[0].ends_with(':'))  // "from-to rights offset device inode name"
      shared_memory = words.size() >= 6 && words[5] == "/dev/zero";
    else if (!shared_memory && words[0] == "Private_Clean:")
      memory.clean += kilobytes(words[1]);
    else if (!shared_memory && words[0] == "Private_Dirty:")
      memory.written += kilobytes(words[1]);
  }
  return memory;
}

std::int64_t peak_memory_bytes() {
  RealFileSystem files;
  const std::string status = read_if_there(files, "/proc/self/status");
  for (const std::string_view line : split_lines(status)) {
    const std::vector<std::string_view> words = split_words(line);
    if (words.size() >= 2 && words[0] == "VmHWM:")
      return static_cast<std::int64_t>(kilobytes(words[1]));
  }
  return 0;
}

}  // namespace odb
