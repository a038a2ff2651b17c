// A file of one JSON object a line that only ever grows, and whose writer may die at any time.
//
// A line counts once its line feed is there: what follows the last one is cut off at the next open.
// Lines go to the system as they are appended, and survive the death of the process from then on;
// sync() makes them survive the machine's.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "model/strict_json.h"

namespace odb {

class JsonLinesFile {
 public:
  // Opens or makes the file and cuts off a torn last line. With `keep`, also every line from the
  // first on that it answers false for (or that is no JSON object): what a life that is void wrote.
  using Keep = std::function<bool(const Json&)>;
  JsonLinesFile(FileSystem& files, const std::string& path, const Keep& keep = {});

  void append(const Json& object);
  void sync() { file_.sync(); }

 private:
  OutputFile file_;
};

// All whole lines. FileError naming file and line: one that is no JSON object.
std::vector<Json> read_json_lines(FileSystem& files, const std::string& path);

}  // namespace odb
