// The messages in the rings between collate and a worker: these headers, each followed by its
// payload. Both sides check sizes.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"
#include "batching/item.h"
#include "data/loader/samples/build_view.h"
#include "data/sample/sample.h"

namespace odb {

struct SampleRequest {
  std::uint64_t generation = 0;  // requests of older generations are no longer answered
  std::int64_t number = 0;       // counted within the generation, over all workers
  ViewRequest view;
};

// Followed by `length` ids, as many labels, and `text_bytes` of text.
struct SampleAnswer {
  std::uint64_t generation = 0;
  std::int64_t number = 0;
  ViewId view = 0;
  AnswerKind kind = AnswerKind::sample;
  std::int32_t reason = 0;      // left out: LeftOutReason
  std::int32_t code = 0;        // failed: ExitCode
  std::int32_t length = 0;      // sample: tokens
  std::int32_t supervised = 0;  // sample
  std::int32_t text_bytes = 0;

  std::size_t payload_bytes() const {
    return 2 * sizeof(std::int32_t) * static_cast<std::size_t>(length) +
           static_cast<std::size_t>(text_bytes);
  }
};

static_assert(std::is_trivially_copyable_v<SampleRequest> &&
              std::is_trivially_copyable_v<SampleAnswer>);

// The bytes of the largest answer about a sample of `longest` tokens.
inline constexpr std::size_t kMaxAnswerText = 4000;
constexpr std::size_t max_answer_bytes(std::int64_t longest) {
  return sizeof(SampleAnswer) + 2 * sizeof(std::int32_t) * static_cast<std::size_t>(longest) +
         kMaxAnswerText;
}

// An answer as collate sees it. Spans and text are valid as long as their source.
struct SampleView {
  AnswerKind kind = AnswerKind::sample;
  ViewId view = 0;
  LeftOutReason reason = LeftOutReason::bad_record;
  ExitCode code = ExitCode::done;
  std::int32_t supervised = 0;
  std::span<const TokenId> ids;
  std::span<const std::int32_t> labels;
  std::string_view text;  // left out: the problem; failed: why

  Failure failure() const { return {.code = code, .message = std::string(text)}; }
};

// Reads a record as an answer. InternalError: sizes do not match.
struct ReadAnswer {
  SampleAnswer header;
  SampleView sample;
};
ReadAnswer read_answer(std::span<const std::byte> record);
SampleRequest read_request(std::span<const std::byte> record);

// The header for the payload of `answer` and, for kind sample, `sample`.
SampleAnswer answer_header(const SampleRequest& request, const ViewAnswer& answer,
                           const Sample& sample);
// Writes header and payload to `record`, which must have exactly their size.
void write_answer(const SampleAnswer& header, const ViewAnswer& answer, const Sample& sample,
                  std::span<std::byte> record);

}  // namespace odb
