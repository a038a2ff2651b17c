#include "data/loader/processes/process_use.h"

#include <unistd.h>

#include <fmt/format.h>

#include "base/process_memory.h"
#include "base/real_file_system.h"
#include "base/text.h"

namespace odb {

namespace {

// "pid (name) state ...": the fields from the state on. The name may hold spaces and parentheses.
std::vector<std::string_view> fields_after_name(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return {};
  return split_words(stat.substr(name_end + 1));
}

}  // namespace

std::optional<std::uint64_t> parse_processor_ticks(std::string_view stat) {
  const std::vector<std::string_view> words = fields_after_name(stat);
  constexpr std::size_t kUser = 11;
  if (words.size() <= kUser + 1) return std::nullopt;
  const auto user = parse_integer<std::uint64_t>(words[kUser]);
  const auto system = parse_integer<std::uint64_t>(words[kUser + 1]);
  if (!user || !system) return std::nullopt;
  return *user + *system;
}

std::optional<char> parse_process_state(std::string_view stat) {
  const std::vector<std::string_view> words = fields_after_name(stat);
  return words.empty() ? std::nullopt : std::optional(words.front().front());
}

bool is_stopped(FileSystem& files, pid_t process) {
  return parse_process_state(read_if_there(files, fmt::format("/proc/{}/stat", process))) == 'T';
}

bool waits_for_storage(FileSystem& files, pid_t process) {
  return parse_process_state(read_if_there(files, fmt::format("/proc/{}/stat", process))) == 'D';
}

std::optional<ProcessUse> process_use(const std::string& role, pid_t process) {
  RealFileSystem files;
  const auto ticks =
      parse_processor_ticks(read_if_there(files, fmt::format("/proc/{}/stat", process)));
  if (!ticks) return std::nullopt;
  return ProcessUse{.role = role,
                    .process = process,
                    .processor_seconds =
                        static_cast<double>(*ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK)),
                    .private_bytes = private_memory(files, process).total()};
}

}  // namespace odb
