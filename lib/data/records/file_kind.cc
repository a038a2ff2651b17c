#include "data/records/file_kind.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"

namespace odb {
namespace {

using namespace std::string_view_literals;

using Content = FileKind::Content;

constexpr std::string_view kToJson = "convert it to JSON Lines (one object per line)";
constexpr std::string_view kToUtf8 = "convert it to UTF-8, as in iconv -f UTF-16 -t UTF-8";

struct Signature {
  std::string_view bytes;
  FileKind kind;
  std::size_t offset = 0;
};

constexpr Signature kSignatures[] = {
    {"\x1f\x8b"sv, {Content::gzip, "gzip data", ""}},
    {"\x28\xb5\x2f\xfd"sv, {Content::zstd, "zstd data", ""}},
    {"PAR1"sv, {Content::foreign, "a Parquet file", kToJson}},
    {"PARE"sv, {Content::foreign, "an encrypted Parquet file", kToJson}},
    {"ARROW1"sv, {Content::foreign, "an Arrow file", kToJson}},
    {"\xff\xff\xff\xff"sv, {Content::foreign, "an Arrow stream", kToJson}},
    {"\xfd"
     "7zXZ\0"sv,
     {Content::foreign, "xz data", "decompress it with xz -d, or use .gz or .zst"}},
    {"BZh"sv, {Content::foreign, "bzip2 data", "decompress it with bzip2 -d, or use .gz or .zst"}},
    {"\x04\x22\x4d\x18"sv,
     {Content::foreign, "lz4 data", "decompress it with lz4 -d, or use .gz or .zst"}},
    {"PK\x03\x04"sv, {Content::foreign, "a zip archive", "unpack it"}},
    {"7z\xbc\xaf\x27\x1c"sv, {Content::foreign, "a 7z archive", "unpack it"}},
    {"ustar"sv, {Content::foreign, "a tar archive", "unpack it"}, 257},
    {"\x93NUMPY"sv, {Content::foreign, "a NumPy array", kToJson}},
    {"\x89HDF\r\n"sv, {Content::foreign, "an HDF5 file", kToJson}},
    {"SQLite format 3\0"sv, {Content::foreign, "an SQLite database", kToJson}},
    {"\x80\x02"sv, {Content::foreign, "a Python pickle", kToJson}},
    {"\x80\x03"sv, {Content::foreign, "a Python pickle", kToJson}},
    {"\x80\x04"sv, {Content::foreign, "a Python pickle", kToJson}},
    {"\x80\x05"sv, {Content::foreign, "a Python pickle", kToJson}},
    {"%PDF-"sv, {Content::foreign, "a PDF file", kToJson}},
    {"version https://git-lfs"sv,
     {Content::foreign, "a Git LFS pointer in place of the file",
      "get the file with git lfs pull"}},
    // Before UTF-16, whose mark it begins with.
    {"\xff\xfe\0\0"sv, {Content::foreign, "UTF-32 text", kToUtf8}},
    {"\0\0\xfe\xff"sv, {Content::foreign, "UTF-32 text", kToUtf8}},
    {"\xff\xfe"sv, {Content::foreign, "UTF-16 text", kToUtf8}},
    {"\xfe\xff"sv, {Content::foreign, "UTF-16 text", kToUtf8}},
};

constexpr FileKind kHtml = {Content::foreign, "an HTML page", "download the file itself"};
constexpr FileKind kCsv = {Content::foreign, "CSV text", kToJson};

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool starts_with_any_case(std::string_view text, std::string_view begin) {
  return text.size() >= begin.size() &&
         std::equal(begin.begin(), begin.end(), text.begin(),
                    [](char wanted, char found) { return wanted == lower(found); });
}

// 0x184D2A50 to 0x184D2A5F, little-endian: a frame that zstd skips.
bool is_skippable_zstd(std::string_view head) {
  return head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xF0U) == 0x50 &&
         head.substr(1, 3) == "\x2a\x4d\x18"sv;
}

// JSON in UTF-16 without a mark begins with an ASCII letter and a zero byte by turns, in either
// order.
bool looks_like_utf16(std::string_view head) {
  const std::string_view start = head.substr(0, 8);
  if (start.size() < 8) return false;
  const auto has_zeros = [&](std::size_t parity) {
    for (std::size_t i = 0; i < start.size(); ++i)
      if ((start[i] == '\0') != (i % 2 == parity)) return false;
    return true;
  };
  return has_zeros(0) || has_zeros(1);
}

// The name of a column: letters, digits, '_', '-', '.', blanks, perhaps in quotes; not a number.
bool is_column_name(std::string_view cell) {
  cell = trim(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
    cell = cell.substr(1, cell.size() - 2);
  const auto is_letter = [](char byte) { return lower(byte) >= 'a' && lower(byte) <= 'z'; };
  return !cell.empty() && cell.size() <= 64 && (is_letter(cell.front()) || cell.front() == '_') &&
         std::all_of(cell.begin(), cell.end(), [&](char byte) {
           return is_letter(byte) || (byte >= '0' && byte <= '9') ||
                  " _-."sv.find(byte) != std::string_view::npos;
         });
}

// A first line of two or more column names, and no JSON in the line after it.
bool looks_like_csv(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  const std::string_view header = text.substr(0, end);
  const std::string_view next = trim(text.substr(end + 1));
  if (next.empty() || next.front() == '{' || next.front() == '[') return false;
  for (const char separator : {',', '\t', ';'}) {
    const auto cells = split(header, separator);
    if (cells.size() > 1 && std::all_of(cells.begin(), cells.end(), is_column_name)) return true;
  }
  return false;
}

FileKind kind_of_text(std::string_view head) {
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  const std::string_view text = trim(head);
  for (const std::string_view begin : {"<!doctype html"sv, "<html"sv})
    if (starts_with_any_case(text, begin)) return kHtml;
  if (looks_like_csv(text)) return kCsv;
  const bool is_text = std::none_of(head.begin(), head.end(), [](char byte) {
    return static_cast<unsigned char>(byte) < 0x20 &&
           "\t\r\n"sv.find(byte) == std::string_view::npos;
  });
  return {.content = is_text ? Content::text : Content::unknown, .name = "", .advice = ""};
}

FileKind kind_of_file(const DataFile& file) {
  std::array<char, kKindBytes> head{};
  return kind_of_content({head.data(), file.read_at(0, head)});
}

std::string_view suffix_of(Content content) {
  return content == Content::gzip ? ".gz" : ".zst";
}

std::string without_suffix(const std::string& path) {
  return path.substr(0, path.rfind('.'));
}

[[noreturn]] void refuse_foreign(const std::string& path, const FileKind& kind) {
  throw DataError("{}: holds {}, which is not read; expected JSON Lines or a JSON array; {}", path,
                  kind.name, kind.advice);
}

}  // namespace

bool has_ending(const std::string& path, std::string_view ending) {
  return path.size() >= ending.size() &&
         starts_with_any_case(std::string_view(path).substr(path.size() - ending.size()), ending);
}

Compression compression_of(const std::string& path) {
  if (has_ending(path, ".gz")) return Compression::gzip;
  return has_ending(path, ".zst") ? Compression::zstd : Compression::none;
}

FileKind kind_of_content(std::string_view head) {
  for (const Signature& signature : kSignatures)
    if (head.size() > signature.offset &&
        head.substr(signature.offset).starts_with(signature.bytes))
      return signature.kind;
  if (is_skippable_zstd(head)) return {.content = Content::zstd, .name = "zstd data", .advice = ""};
  if (looks_like_utf16(head)) return {Content::foreign, "UTF-16 text", kToUtf8};
  return kind_of_text(head);
}

void check_kind(const DataFile& file, const std::string& path) {
  if (file.size() == 0) return;
  const FileKind kind = kind_of_file(file);
  const Compression named = compression_of(path);
  if (kind.content == Content::foreign) refuse_foreign(path, kind);
  if (kind.content == Content::unknown) return;
  const Compression found = kind.content == Content::gzip   ? Compression::gzip
                            : kind.content == Content::zstd ? Compression::zstd
                                                            : Compression::none;
  if (found == named) return;
  if (found == Compression::none)
    throw DataError(
        "{}: the file is misnamed: it holds text that is not compressed; rename it to {}", path,
        without_suffix(path));
  throw DataError("{}: the file is misnamed: it holds {}; rename it to {}{}", path, kind.name,
                  named == Compression::none ? path : without_suffix(path),
                  suffix_of(kind.content));
}

void check_copy_kind(const DataFile& copy, const std::string& path) {
  const FileKind kind = kind_of_file(copy);
  const std::string inside = path + ", decompressed";
  if (kind.content == Content::foreign) refuse_foreign(inside, kind);
  if (kind.content == Content::gzip || kind.content == Content::zstd)
    throw DataError("{}: holds {} again; expected JSON; decompress it once", inside, kind.name);
}

}  // namespace odb
