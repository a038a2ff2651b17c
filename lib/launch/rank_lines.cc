#include "launch/rank_lines.h"

#include <fcntl.h>

#include <cstdio>

#include <fmt/core.h>

#include "launch/launch_error.h"

namespace odb {
namespace {

void print_line(int rank, const std::string& line) {
  std::fputs(fmt::format("[{}] {}\n", rank, line).c_str(), stderr);
}

}  // namespace

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_launch("cannot create a pipe");
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

void RankLines::print() {
  char bytes[4096];
  while (pipe_.open()) {
    const ssize_t count = ::read(pipe_.get(), bytes, sizeof bytes);
    if (count < 0) return;  // nothing more now
    if (count == 0) {
      if (!begun_.empty()) print_line(rank_, std::exchange(begun_, ""));
      pipe_ = Descriptor();
      return;
    }
    begun_.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end; (end = begun_.find('\n')) != std::string::npos;) {
      print_line(rank_, begun_.substr(0, end));
      begun_.erase(0, end + 1);
    }
  }
}

}  // namespace odb
