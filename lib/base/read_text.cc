#include "base/read_text.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "base/bytes.h"
#include "base/error.h"

namespace odb {

std::string read_text(const std::string& option, const std::string& path, std::size_t max_bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  while (file) {
    const std::size_t begin = text.size();
    text.resize(begin + kPiece);
    file.read(text.data() + begin, static_cast<std::streamsize>(kPiece));
    text.resize(begin + static_cast<std::size_t>(file.gcount()));
    if (const std::size_t zero = text.find('\0', begin); zero != std::string::npos)
      throw UsageError("{} {}: found a byte 0 at offset {}, expected a text", option, path, zero);
    if (text.size() > max_bytes)
      throw UsageError("{} {}: found more than {}, expected a text of at most that", option, path,
                       format_bytes(max_bytes));
  }
  if (!file.is_open() || file.bad())
    throw UsageError("{} {}: cannot read the file: {}", option, path, errno_text(errno));
  return text;
}

}  // namespace odb
