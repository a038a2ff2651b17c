// The lines of a rank, as they come through a pipe, told on standard error with its number in
// front.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace odb {

struct Pipe {
  Descriptor read;  // never blocks
  Descriptor write;
};

// Both ends close on exec. FileError: none is to be had.
Pipe make_pipe();

class RankLines {
 public:
  RankLines() = default;
  RankLines(int rank, Descriptor pipe) : rank_(rank), pipe_(std::move(pipe)) {}

  // Readable when there is something; -1: there is no pipe, or its writers are gone.
  int descriptor() const { return pipe_.get(); }
  // Tells every whole line that has come; what has no end yet too, once its writers are gone.
  void tell();

 private:
  int rank_ = 0;
  Descriptor pipe_;
  std::string begun_;  // a line that is not whole yet
};

}  // namespace odb
