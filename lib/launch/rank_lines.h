// The lines of a rank, read from a pipe and printed on standard error with the rank's number in
// front.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace odb {

struct Pipe {
  Descriptor read;  // never blocks
  Descriptor write;
};

// Both ends close on exec. FileError: the pipe cannot be created.
Pipe make_pipe();

class RankLines {
 public:
  RankLines() = default;
  RankLines(int rank, Descriptor pipe) : rank_(rank), pipe_(std::move(pipe)) {}

  // Readable when there is something; -1: there is no pipe, or its writers are gone.
  int descriptor() const { return pipe_.get(); }
  // Prints every complete line that has arrived, and the incomplete last one once the writers are
  // gone.
  void print();

 private:
  int rank_ = 0;
  Descriptor pipe_;
  std::string begun_;  // a line that is not complete yet
};

}  // namespace odb
