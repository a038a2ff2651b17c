// The optimizers' loops beside the same formulas in double precision, and their bits, which must
// not depend on how a parameter is split. Beside LibTorch's: optimizer_test.cc.
#include "train/step/update_kernels.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "base/rng.h"
#include "catch.h"

namespace odb {
namespace {

constexpr std::size_t kCount = 1003;

using Values = std::vector<float>;

Values drawn(Rng& rng, double scale) {
  Values values(kCount);
  for (float& value : values)
    value = static_cast<float>(scale * rng.normal());
  return values;
}

struct State {
  Values parameters, first, second;
};

bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void check_near(const Values& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("element " << i);
    REQUIRE(std::abs(found[i] - expected[i]) < 1e-6 + 1e-5 * std::abs(expected[i]));
  }
}

// 50 updates; every seventh gradient is zero, and sizes span eight orders of magnitude.
void check_adamw(AdamwUpdate update) {
  INFO("beta1 " << update.beta1 << ", decay " << update.weight_decay);
  Rng rng(1, RandomPurpose::tests);
  State state{drawn(rng, 1), Values(kCount), Values(kCount)};
  std::vector<double> parameters(state.parameters.begin(), state.parameters.end());
  std::vector<double> first(kCount), second(kCount);
  for (update.update = 1; update.update <= 50; ++update.update) {
    Values gradients = drawn(rng, std::pow(10, 4 * rng.uniform() - 2));
    for (std::size_t i = 0; i < kCount; i += 7)
      gradients[i] = 0;
    const auto t = static_cast<double>(update.update);
    for (std::size_t i = 0; i < kCount; ++i) {
      const double gradient = update.gradient_scale * gradients[i];
      parameters[i] *= 1 - update.learning_rate * update.weight_decay;
      first[i] = update.beta1 * first[i] + (1 - update.beta1) * gradient;
      second[i] = update.beta2 * second[i] + (1 - update.beta2) * gradient * gradient;
      const double first_corrected = first[i] / (1 - std::pow(update.beta1, t));
      const double second_corrected = second[i] / (1 - std::pow(update.beta2, t));
      parameters[i] -=
          update.learning_rate * first_corrected / (std::sqrt(second_corrected) + update.epsilon);
    }
    update_adamw(update, state.parameters, gradients, state.first, state.second);
  }
  check_near(state.parameters, parameters);
}

void check_sgd(const SgdUpdate& update) {
  INFO("momentum " << update.momentum << ", decay " << update.weight_decay);
  Rng rng(2, RandomPurpose::tests);
  Values found = drawn(rng, 1);
  Values momenta(update.momentum > 0 ? kCount : 0);
  std::vector<double> parameters(found.begin(), found.end());
  std::vector<double> kept(kCount);
  for (int time = 0; time < 50; ++time) {
    const Values gradients = drawn(rng, 1);
    for (std::size_t i = 0; i < kCount; ++i) {
      kept[i] = update.momentum * kept[i] + update.gradient_scale * gradients[i] +
                update.weight_decay * parameters[i];
      parameters[i] -= update.learning_rate * kept[i];
    }
    update_sgd(update, found, gradients, momenta);
  }
  check_near(found, parameters);
}

// By ranges of a length that is no multiple of any vector's, from a place that no vector is aligned
// to.
void in_ranges(std::size_t length, const std::function<void(std::size_t, std::size_t)>& update) {
  for (std::size_t begin = 0; begin < kCount; begin += length)
    update(begin, std::min(length, kCount - begin));
}

}  // namespace

TEST_CASE("AdamW is its formula") {
  check_adamw({.learning_rate = 1e-2});
  check_adamw({.learning_rate = 1e-3, .gradient_scale = 3.7, .weight_decay = 0.1});
  for (const double beta1 : {0.0, 0.3, 0.5, 0.95})
    check_adamw({.learning_rate = 1e-2, .beta1 = beta1, .beta2 = 0.95, .epsilon = 1e-5});
}

TEST_CASE("SGD is its formula") {
  for (const double momentum : {0.0, 0.9})
    for (const double decay : {0.0, 0.05})
      check_sgd({.learning_rate = 1e-2,
                 .gradient_scale = 0.7,
                 .weight_decay = decay,
                 .momentum = momentum});
}

TEST_CASE("An update has the same bits however its elements are split and aligned") {
  Rng rng(3, RandomPurpose::tests);
  const Values gradients = drawn(rng, 1);
  Values squares = drawn(rng, 1);
  for (float& value : squares)
    value = std::abs(value);
  const State start{drawn(rng, 1), drawn(rng, 1), squares};
  const AdamwUpdate adamw{.learning_rate = 1e-2, .weight_decay = 0.1, .update = 17};
  const SgdUpdate sgd{.learning_rate = 1e-2, .weight_decay = 0.1, .momentum = 0.9};
  State whole = start, whole_sgd = start;
  update_adamw(adamw, whole.parameters, gradients, whole.first, whole.second);
  update_sgd(sgd, whole_sgd.parameters, gradients, whole_sgd.first);
  CHECK_FALSE(same_bits(whole.parameters, start.parameters));
  for (const std::size_t length : {1, 3, 7, 64, 501}) {
    INFO("ranges of " << length);
    State split = start, split_sgd = start;
    in_ranges(length, [&](std::size_t begin, std::size_t count) {
      const auto part = [&](Values& values) { return std::span(values).subspan(begin, count); };
      const auto gradient = std::span(gradients).subspan(begin, count);
      update_adamw(adamw, part(split.parameters), gradient, part(split.first), part(split.second));
      update_sgd(sgd, part(split_sgd.parameters), gradient, part(split_sgd.first));
    });
    CHECK(same_bits(split.parameters, whole.parameters));
    CHECK(same_bits(split.first, whole.first));
    CHECK(same_bits(split.second, whole.second));
    CHECK(same_bits(split_sgd.parameters, whole_sgd.parameters));
    CHECK(same_bits(split_sgd.first, whole_sgd.first));
  }
}

TEST_CASE("The bits of an update are fixed: no instruction set may change them") {
  // One element, in the order of operations that the source has, each rounded to fp32.
  const volatile float scale = 0.3F, lerp = 0.1F, beta2 = 0.999F, share = 0.001F;
  for (const float given : {0.7F, -1.3e-3F, 911.0F}) {
    float parameter[] = {0.9F}, gradient[] = {given}, first[] = {0.21F}, second[] = {0.035F};
    update_adamw({.learning_rate = 1e-2, .gradient_scale = 0.3F, .weight_decay = 0.1, .update = 2},
                 parameter, gradient, first, second);
    const volatile float scaled = given * scale;
    const volatile float step = lerp * (scaled - 0.21F);
    const volatile float old_part = beta2 * 0.035F;
    const volatile float weighted = share * scaled;
    const volatile float new_part = weighted * scaled;
    CHECK(first[0] == 0.21F + step);
    CHECK(second[0] == old_part + new_part);
  }
}

TEST_CASE("Powers by squaring") {
  CHECK(power(0.9, 0) == 1);
  CHECK(power(0.9, 1) == 0.9);
  CHECK(power(0.5, 10) == 1.0 / 1024);
  CHECK(power(0, 3) == 0);
  CHECK(power(3, 5) == 243);
  for (const double base : {0.8, 0.9, 0.95, 0.999})
    for (const int exponent : {2, 3, 17, 1000, 123457})
      CHECK(power(base, exponent) == Approx(std::pow(base, exponent)).epsilon(1e-9).margin(1e-300));
  CHECK(power(0.999, std::numeric_limits<std::int64_t>::max()) == 0);
}

}  // namespace odb
