#include "data/records/decompress.h"

#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/progress_callback.h"
#include "data/records/file_kind.h"

namespace odb {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
constexpr int kGzipOnly = 16 + MAX_WBITS;
// 2 GiB, the largest window that zstd makes (--ultra --long=31).
constexpr int kMaxWindowBits = 31;

[[noreturn]] void refuse(const DataFile& file, std::uint64_t at, const std::string& what) {
  throw DataError(
      "{}: cannot be decompressed: {} at byte {} of {}; the file is damaged, get it again",
      file.path(), what, at, file.size());
}

// What a sound file needs and we cannot give is not damage.
[[noreturn]] void refuse_limit(const DataFile& file, const std::string& what) {
  throw DataError("{}: cannot be decompressed: {}", file.path(), what);
}

// The compressed bytes, buffer by buffer.
class Source {
 public:
  Source(const DataFile& file, const ProgressCallback& progress)
      : file_(file), progress_(progress), buffer_(kBufferBytes) {}

  // Empty at the end.
  std::span<char> next() {
    const std::size_t got = file_.read_at(at_, buffer_);
    at_ += got;
    if (progress_) progress_(at_, file_.size());
    return std::span(buffer_).first(got);
  }
  std::uint64_t at() const { return at_; }

 private:
  const DataFile& file_;
  const ProgressCallback& progress_;
  std::vector<char> buffer_;
  std::uint64_t at_ = 0;
};

struct EndInflate {
  void operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
  }
};

// Zeros after a gzip member, as tapes and archives leave them, are ignored.
void skip_zeros(z_stream& stream) {
  while (stream.avail_in > 0 && *stream.next_in == 0) {
    ++stream.next_in;
    --stream.avail_in;
  }
}

void gunzip(const DataFile& file, Source& source, OutputFile& into) {
  const std::unique_ptr<z_stream, EndInflate> stream(new z_stream{});
  if (inflateInit2(stream.get(), kGzipOnly) != Z_OK)
    throw InternalError("zlib cannot be initialized");
  std::vector<char> out(kBufferBytes);
  bool member_ended = true;
  bool is_first = true;
  for (std::span<char> in = source.next(); !in.empty(); in = source.next()) {
    stream->next_in = reinterpret_cast<Bytef*>(in.data());
    stream->avail_in = static_cast<uInt>(in.size());
    do {
      if (member_ended) {
        if (!is_first) skip_zeros(*stream);
        if (stream->avail_in == 0) break;
        inflateReset(stream.get());
        is_first = false;
      }
      stream->next_out = reinterpret_cast<Bytef*>(out.data());
      stream->avail_out = static_cast<uInt>(out.size());
      const int rc = inflate(stream.get(), Z_NO_FLUSH);
      if (rc == Z_MEM_ERROR) refuse_limit(file, "there is not enough memory for it");
      if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
        refuse(file, source.at() - stream->avail_in,
               stream->msg != nullptr ? stream->msg : "bad gzip data");
      into.write({out.data(), out.size() - stream->avail_out});
      member_ended = rc == Z_STREAM_END;
    } while (stream->avail_in > 0 || (!member_ended && stream->avail_out == 0));
  }
  if (!member_ended) refuse(file, source.at(), "unexpected end of data");
}

struct EndDecompress {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

[[noreturn]] void refuse_zstd(const DataFile& file, std::uint64_t at, std::size_t code) {
  switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge:
      refuse_limit(file,
                   fmt::format("its window is larger than 2^{} bytes; compress it again with zstd "
                               "--long={} or a smaller window",
                               kMaxWindowBits, kMaxWindowBits));
    case ZSTD_error_memory_allocation:
      refuse_limit(file,
                   "there is not enough memory for its window (up to 2 GiB); compress it "
                   "again without --long");
    case ZSTD_error_dictionary_wrong:
      refuse_limit(file,
                   "it was compressed with a dictionary, which is not part of the file; "
                   "compress it again without -D");
    case ZSTD_error_version_unsupported:
      refuse_limit(file,
                   "it has the format of a zstd before 0.8; compress it again with a newer "
                   "zstd");
    default:
      refuse(file, at, ZSTD_getErrorName(code));
  }
}

void unzstd(const DataFile& file, Source& source, OutputFile& into) {
  const std::unique_ptr<ZSTD_DCtx, EndDecompress> context(ZSTD_createDCtx());
  if (context == nullptr ||
      ZSTD_isError(ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMaxWindowBits)) != 0)
    throw InternalError("zstd cannot be initialized");
  std::vector<char> out(kBufferBytes);
  std::size_t left = 0;
  for (std::span<char> in = source.next(); !in.empty(); in = source.next()) {
    ZSTD_inBuffer from{.src = in.data(), .size = in.size(), .pos = 0};
    bool full = true;
    while (from.pos < from.size || (full && left != 0)) {
      ZSTD_outBuffer to{.dst = out.data(), .size = out.size(), .pos = 0};
      left = ZSTD_decompressStream(context.get(), &to, &from);
      if (ZSTD_isError(left) != 0) refuse_zstd(file, source.at() - from.size + from.pos, left);
      into.write({out.data(), to.pos});
      full = to.pos == to.size;
    }
  }
  if (left != 0) refuse(file, source.at(), "unexpected end of data");
}

std::string without_suffix(const std::string& name) {
  return name.substr(0, name.rfind('.'));
}

constexpr std::string_view kCheckSuffix = ".check";

// Identifies a copy.
std::string check_text(const DataFile& copy) {
  return fmt::format("{} bytes, time {}, fingerprint {}\n", copy.size(), copy.stamp().modified_ns,
                     to_hex(copy.fingerprint()));
}

bool is_whole(FileSystem& files, const std::string& copy) {
  const std::string check = read_if_there(files, copy + std::string(kCheckSuffix));
  return !check.empty() && files.exists(copy) && check == check_text(DataFile(copy));
}

// Removes all copies that are not in use, with their index and check files.
void remove_copies(FileSystem& files, const std::string& folder, const std::string& key,
                   const std::string& inner) {
  for (const std::string& name : files.list(folder)) {
    const std::string copy = join_path(folder, name);
    if (!name.starts_with(key) || !name.ends_with(inner) || DataFile::is_in_use(copy)) continue;
    for (const std::string_view suffix : {"", ".index", ".check"})
      files.remove(copy + std::string(suffix));
  }
}

}  // namespace

std::string decompressed_copy(const CacheFolder& cache, const DataFile& file,
                              const ProgressCallback& progress) {
  FileSystem& files = cache.files();
  const std::string state = to_hex(
      checksum64(fmt::format("{} {}", file.stamp().modified_ns, to_hex(file.fingerprint()))));
  const std::string inner = "-" + without_suffix(file_name(file.path()));
  const std::string name = CacheFolder::key_of(file.path()) + state + inner;
  return cache.find_or_make(
      file.path(), name, [&](const std::string& copy) { return is_whole(files, copy); },
      [&](const std::string& temporary, const std::string& copy) {
        log("data").info("decompressing {} into {}", file.path(), copy);
        remove_copies(files, parent_folder(copy), CacheFolder::key_of(file.path()), inner);
        OutputFile into = files.create(temporary);
        Source source(file, progress);
        if (compression_of(file.path()) == Compression::gzip)
          gunzip(file, source, into);
        else
          unzstd(file, source, into);
        file.check_unchanged();
        into.sync();
        into.close();
        files.write_durably(copy + std::string(kCheckSuffix), check_text(DataFile(temporary)));
      });
}

}  // namespace odb
