#include "data/loader/samples/sample_message.h"

#include <algorithm>

namespace odb {
namespace {

template <typename T>
T read_header(std::span<const std::byte> record, const char* what) {
  ODB_CHECK(record.size() >= sizeof(T), "{} of {} bytes, expected at least {}", what, record.size(),
            sizeof(T));
  T header;
  std::memcpy(&header, record.data(), sizeof header);
  return header;
}

}  // namespace

SampleRequest read_request(std::span<const std::byte> record) {
  return read_header<SampleRequest>(record, "a request");
}

ReadAnswer read_answer(std::span<const std::byte> record) {
  ReadAnswer read{.header = read_header<SampleAnswer>(record, "an answer"), .sample = {}};
  const SampleAnswer& header = read.header;
  ODB_CHECK(header.length >= 0 && header.text_bytes >= 0 &&
                sizeof header + header.payload_bytes() == record.size(),
            "an answer of {} bytes claims {} tokens and {} bytes of text", record.size(),
            header.length, header.text_bytes);
  const auto length = static_cast<std::size_t>(header.length);
  const auto* const ids = reinterpret_cast<const std::int32_t*>(record.data() + sizeof header);
  const auto* const text = reinterpret_cast<const char*>(ids + 2 * length);
  read.sample = {.kind = header.kind,
                 .view = header.view,
                 .reason = static_cast<LeftOutReason>(header.reason),
                 .code = static_cast<ExitCode>(header.code),
                 .supervised = header.supervised,
                 .ids = {ids, length},
                 .labels = {ids + length, length},
                 .text = {text, static_cast<std::size_t>(header.text_bytes)}};
  return read;
}

SampleAnswer answer_header(const SampleRequest& request, const ViewAnswer& answer,
                           const Sample& sample) {
  const bool whole = answer.kind == AnswerKind::sample;
  return {.generation = request.generation,
          .number = request.number,
          .view = request.view.view,
          .kind = answer.kind,
          .reason = static_cast<std::int32_t>(answer.reason),
          .code = static_cast<std::int32_t>(answer.code),
          .length = whole ? static_cast<std::int32_t>(sample.tokens.size()) : 0,
          .supervised = whole ? static_cast<std::int32_t>(sample.supervised) : 0,
          .text_bytes = static_cast<std::int32_t>(std::min(answer.text.size(), kMaxAnswerText))};
}

void write_answer(const SampleAnswer& header, const ViewAnswer& answer, const Sample& sample,
                  std::span<std::byte> record) {
  ODB_CHECK_EQ(record.size(), sizeof header + header.payload_bytes());
  std::byte* at = record.data();
  const auto append = [&at](const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(at, from, bytes);
    at += bytes;
  };
  const std::size_t id_bytes = sizeof(std::int32_t) * static_cast<std::size_t>(header.length);
  append(&header, sizeof header);
  append(sample.tokens.data(), id_bytes);
  append(sample.labels.data(), id_bytes);
  append(answer.text.data(), static_cast<std::size_t>(header.text_bytes));
}

}  // namespace odb
