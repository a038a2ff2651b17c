#include "data/processes/make_view.h"

#include <new>

namespace odb {
namespace {

bool is_bad_by_now(const MakerState& state, ViewId view, std::int64_t epoch) {
  return state.suspect == view + 1 && state.suspect_epoch == epoch &&
         state.crashes >= kCrashesOfBadSample;
}

ViewAnswer crashed_answer(ViewMaker& maker, const MakingRules& rules, ViewId view,
                          std::int64_t epoch) {
  std::string text = fmt::format("{}: making this sample crashed or hung a data process {} times",
                                 maker.where(view, epoch), kCrashesOfBadSample);
  if (rules.skip_bad)
    return {.kind = AnswerKind::left_out,
            .reason = LeftOutReason::crashed_worker,
            .text = std::move(text)};
  return {.kind = AnswerKind::failed,
          .code = ExitCode::data,
          .text = text + " (--on-bad-sample skip leaves such rows out)"};
}

ViewAnswer left_out_answer(MadeSample made) {
  const bool bad = made.left_out == WhyLeftOut::bad;
  return {.kind = AnswerKind::left_out,
          .reason = bad ? LeftOutReason::bad_record : LeftOutReason::no_supervised_token,
          .text = std::move(made.problem)};
}

ViewAnswer make_guarded(ViewMaker& maker, const MakingRules& rules, ViewId view, std::int64_t epoch,
                        Sample& sample) {
  try {
    MadeSample made = maker.make(view, epoch, sample);
    if (made.left_out != WhyLeftOut::no) return left_out_answer(std::move(made));
    const auto length = static_cast<std::int64_t>(sample.tokens.size());
    if (length > rules.longest)
      throw DataError(
          "{}: found a sample of {} tokens, a batch has room for {}; set --cutoff-len to at most "
          "that",
          maker.where(view, epoch), length, rules.longest);
    return {};
  } catch (const Error& error) {
    return {.kind = AnswerKind::failed, .code = error.code(), .text = error.what()};
  }
}

}  // namespace

ViewAnswer make_view(ViewMaker& maker, MakerState& state, const MakingRules& rules, ViewId view,
                     std::int64_t epoch, Sample& sample) {
  if (is_bad_by_now(state, view, epoch)) {
    ViewAnswer answer = crashed_answer(maker, rules, view, epoch);
    state.made.fetch_add(1);
    return answer;
  }
  state.epoch.store(epoch, std::memory_order_relaxed);
  state.making.store(view + 1, std::memory_order_relaxed);
  ViewAnswer answer = make_guarded(maker, rules, view, epoch, sample);
  state.making.store(0, std::memory_order_relaxed);
  state.made.store(state.made.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (state.suspect.load(std::memory_order_relaxed) == view + 1) state.suspect = 0;
  return answer;
}

}  // namespace odb
