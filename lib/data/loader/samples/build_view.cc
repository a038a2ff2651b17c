#include "data/loader/samples/build_view.h"

namespace odb {
namespace {

// Times the number of crashes so far.
constexpr std::chrono::milliseconds kRetryPause{1000};

bool is_suspect(const BuilderState& state, const ViewRequest& request) {
  return state.suspect == request.view + 1 && state.suspect_epoch == request.epoch;
}

bool is_bad(const BuilderState& state, const ViewRequest& request) {
  return is_suspect(state, request) && state.crashes >= request.max_crashes;
}

ViewAnswer crashed_answer(ViewBuilder& builder, const PreprocessingOptions& options,
                          const ViewRequest& request) {
  std::string text = fmt::format("{}: this sample crashed or hung a data process {} times",
                                 builder.where(request.view, request.epoch), request.max_crashes);
  if (options.skip_bad)
    return {.kind = AnswerKind::left_out,
            .reason = LeftOutReason::crashed_worker,
            .text = std::move(text)};
  return {.kind = AnswerKind::failed,
          .code = ExitCode::data,
          .text = text + " (--on-bad-sample skip leaves such rows out)"};
}

ViewAnswer left_out_answer(BuiltSample built) {
  return {.kind = AnswerKind::left_out,
          .reason = recorded_reason(built.left_out),
          .text = std::move(built.problem)};
}

ViewAnswer build_guarded(ViewBuilder& builder, const PreprocessingOptions& options, ViewId view,
                         std::int64_t epoch, Sample& sample) {
  try {
    BuiltSample built = builder.build(view, epoch, sample);
    if (built.left_out != LeftOutReason::none) return left_out_answer(std::move(built));
    const auto length = static_cast<std::int64_t>(sample.tokens.size());
    if (length > options.longest)
      throw DataError(
          "{}: found a sample of {} tokens, a batch has room for {}; set --cutoff-len to at most "
          "this number",
          builder.where(view, epoch), length, options.longest);
    return {};
  } catch (const Error& error) {
    return {.kind = AnswerKind::failed, .code = error.code(), .text = error.what()};
  }
}

}  // namespace

ViewAnswer build_view(ViewBuilder& builder, BuilderState& state,
                      const PreprocessingOptions& options, const ViewRequest& request,
                      Sample& sample) {
  if (is_bad(state, request)) {
    ViewAnswer answer = crashed_answer(builder, options, request);
    state.built.fetch_add(1);
    return answer;
  }
  state.epoch.store(request.epoch, std::memory_order_relaxed);
  state.building.store(request.view + 1, std::memory_order_relaxed);
  ViewAnswer answer = build_guarded(builder, options, request.view, request.epoch, sample);
  state.building.store(0, std::memory_order_relaxed);
  state.built.store(state.built.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (state.suspect.load(std::memory_order_relaxed) == request.view + 1) state.suspect = 0;
  return answer;
}

std::chrono::milliseconds pause_before(const BuilderState& state, const ViewRequest& request) {
  const bool retries = request.max_crashes > kCrashesOfBadSample && is_suspect(state, request) &&
                       !is_bad(state, request);
  return retries ? state.crashes.load() * kRetryPause : std::chrono::milliseconds(0);
}

}  // namespace odb
