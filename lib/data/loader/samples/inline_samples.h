// Samples that collate prepares itself: --data-workers 0.
#pragma once

#include <deque>
#include <memory>

#include "data/loader/samples/sample_stream.h"
#include "data/loader/shared/wake_up.h"

namespace odb {

class InlineSamples final : public SampleStream {
 public:
  // `builder` and `state` must outlive it.
  InlineSamples(ViewBuilder& builder, BuilderState& state, const PreprocessingOptions& rules)
      : builder_(builder), state_(state), rules_(rules) {}

  void restart() override { requests_.clear(); }
  std::int64_t max_ahead() const override { return 64; }
  bool request(const ViewRequest& view, const GivenUp&) override {
    requests_.push_back(view);
    return true;
  }
  void flush_requests() override {}

  std::optional<SampleView> next(const GivenUp& given_up) override {
    ODB_CHECK(!requests_.empty(), "an answer was requested before any view");
    const ViewRequest& request = requests_.front();
    if (!pause_for(pause_before(state_, request), given_up)) return std::nullopt;
    answer_ = build_view(builder_, state_, rules_, request, sample_);
    SampleView sample{.kind = answer_.kind,
                      .view = request.view,
                      .reason = answer_.reason,
                      .code = answer_.code,
                      .text = answer_.text};
    if (answer_.kind == AnswerKind::sample) {
      sample.supervised = static_cast<std::int32_t>(sample_.supervised);
      sample.ids = sample_.tokens;
      sample.labels = sample_.labels;
    }
    return sample;
  }
  void done() override { requests_.pop_front(); }

 private:
  ViewBuilder& builder_;
  BuilderState& state_;
  PreprocessingOptions rules_;
  std::deque<ViewRequest> requests_;
  Sample sample_;
  ViewAnswer answer_;
};

}  // namespace odb
