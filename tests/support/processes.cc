#include "processes.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "texts.h"

namespace odb {

std::vector<SeenProcess> all_processes() {
  std::vector<SeenProcess> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = content_of(entry.path() / "stat");
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) continue;  // gone meanwhile
    SeenProcess seen{.process = std::stoi(name), .command = content_of(entry.path() / "cmdline")};
    std::istringstream(stat.substr(name_end + 1)) >> seen.state >> seen.parent >> seen.group;
    found.push_back(seen);
  }
  std::ranges::sort(found, {}, &SeenProcess::process);
  return found;
}

std::vector<SeenProcess> processes_with(const std::string& mark) {
  std::vector<SeenProcess> found;
  for (SeenProcess& seen : all_processes())
    if (seen.state != 'Z' && seen.command.find(mark) != std::string::npos)
      found.push_back(std::move(seen));
  return found;
}

}  // namespace odb
