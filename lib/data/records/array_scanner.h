// Finds the rows of a file that is one JSON array: where its elements are, not what they contain
// (each element is parsed and checked when it is read).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace odb {

class ArrayScanner {
 public:
  // Calls `row` with the first byte and line of each element, in file order. `path` is for
  // messages.
  using Row = std::function<void(std::uint64_t first_byte, std::uint64_t line)>;
  ArrayScanner(std::string path, Row row) : path_(std::move(path)), row_(std::move(row)) {}

  // The next bytes of the file, the first of them at `offset`. Throws DataError naming file and
  // line: text before or after the array, an extra comma, an extra bracket.
  void add(std::string_view bytes, std::uint64_t offset);

  // At the end of the file: the byte of the closing bracket. Throws DataError when there is none.
  std::uint64_t finish() const;

 private:
  // What may come next, at depth 1 (inside the outer array).
  enum class Wanted {
    array,
    element_or_end,
    element,
    comma_or_end,
    nothing
  };  // comma_or_end: or more of the element

  const char* skip_string(const char* at, const char* end);
  void take(char byte, std::uint64_t offset);
  [[noreturn]] void refuse(const std::string& found) const;

  std::string path_;
  Row row_;
  Wanted wanted_ = Wanted::array;
  std::uint64_t depth_ = 0;  // open brackets inside the element
  bool in_string_ = false;
  bool escaped_ = false;
  std::uint64_t line_ = 1;
  std::uint64_t data_end_ = 0;
};

}  // namespace odb
