// An append-only file of one JSON object per line, whose writer may die at any time.
//
// A line is complete once it has its line feed; the next open cuts off what follows the last one.
// Appended lines go to the operating system at once and survive the death of the process; sync()
// makes them survive a crash of the machine.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json_reader.h"

namespace odb {

class JsonLinesFile {
 public:
  // Opens or creates the file and cuts off a torn last line. With `keep`, also cuts off everything
  // from the first line for which it returns false, or that is not a JSON object: the lines of a
  // void life.
  using Keep = std::function<bool(const Json&)>;
  JsonLinesFile(FileSystem& files, const std::string& path, const Keep& keep = {});

  void append(const Json& object);
  void sync() { file_.sync(); }

 private:
  OutputFile file_;
};

// All complete lines. FileError with file and line number: a line is not a JSON object.
std::vector<Json> read_json_lines(FileSystem& files, const std::string& path);

}  // namespace odb
