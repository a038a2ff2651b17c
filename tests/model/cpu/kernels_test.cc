// The parts of a block on the CPU against LibTorch's own operators in fp64: values and gradients.
#include <cmath>

#include <ATen/Parallel.h>
#include <torch/autograd.h>

#include "catch.h"
#include "model/cpu/row_kernels.h"
#include "model/golden_models.h"
#include "model/layers/linear.h"
#include "model/layers/mlp.h"
#include "model/layers/rms_norm.h"

using namespace odb;
using torch::Tensor;

namespace {

using Operation = std::function<Tensor(const std::vector<Tensor>&)>;

// The operation in fp32 (the row kernels) and in fp64 (LibTorch), from the same inputs: the value
// and the gradient by every input agree.
void check_against_fp64(const std::vector<Tensor>& inputs, const Operation& operation) {
  std::vector<Tensor> narrow, wide;
  for (const Tensor& input : inputs) {
    narrow.push_back(input.detach().clone().requires_grad_());
    wide.push_back(input.detach().to(torch::kDouble).requires_grad_());
  }
  const Tensor found = operation(narrow);
  const Tensor expected = operation(wide);
  CHECK(distance(found, expected) < 2e-6 * std::max(1.0, expected.abs().max().item<double>()));
  const Tensor back = torch::randn_like(found);
  found.backward(back);
  expected.backward(back.to(torch::kDouble));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFO("input " << i);
    const Tensor gradient = wide[i].grad();
    CHECK(distance(narrow[i].grad(), gradient) <
          4e-6 * std::max(1.0, gradient.abs().max().item<double>()));
  }
}

}  // namespace

TEST_CASE("RMSNorm, also of one row and of rows that fill no register") {
  torch::manual_seed(1);
  for (const auto& [rows, size] : {std::pair(1, 1), std::pair(3, 7), std::pair(50, 192)})
    check_against_fp64({torch::randn({rows, size}), torch::rand({size}) + 0.5},
                       [](const auto& in) { return rms_norm(in[0], in[1], 1e-6); });
}

TEST_CASE("RMSNorm of a sum, with gradients through both outputs") {
  torch::manual_seed(2);
  check_against_fp64({torch::randn({9, 40}), torch::randn({9, 40}), torch::rand({40}) + 0.5},
                     [](const auto& in) {
                       const auto [sum, normed] = add_rms_norm(in[0], in[1], in[2], 1e-6);
                       return sum * 2 + normed;
                     });
}

TEST_CASE("Sums of several threads") {
  torch::manual_seed(8);
  at::set_num_threads(2);
  check_against_fp64({torch::randn({700, 192}), torch::rand({192}) + 0.5},
                     [](const auto& in) { return rms_norm(in[0], in[1], 1e-6); });
  check_against_fp64({torch::randn({700, 192})}, [](const auto& in) { return swiglu(in[0]); });
  at::set_num_threads(1);
}

TEST_CASE("SwiGLU, also where the exponential overflows") {
  torch::manual_seed(3);
  check_against_fp64({torch::randn({5, 34}) * 4}, [](const auto& in) { return swiglu(in[0]); });
  const Tensor far = torch::tensor({{-200.0f, -90.0f, 90.0f, 200.0f, 1.0f, 2.0f, 3.0f, 4.0f}});
  check_against_fp64({far}, [](const auto& in) { return swiglu(in[0]); });
}

TEST_CASE("A linear layer, with and without bias") {
  torch::manual_seed(4);
  check_against_fp64({torch::randn({33, 20}), torch::randn({17, 20}), torch::randn({17})},
                     [](const auto& in) { return Linear{in[1], in[2]}(in[0]); });
  check_against_fp64({torch::randn({1, 20}), torch::randn({17, 20})},
                     [](const auto& in) { return Linear{in[1]}(in[0]); });
}

TEST_CASE("Products of matrices with any strides") {
  torch::manual_seed(5);
  const Tensor a = torch::randn({12, 30});
  const Tensor b = torch::randn({30, 25});
  const Tensor expected = torch::mm(a.to(torch::kDouble), b.to(torch::kDouble));
  CHECK(distance(multiply_transposed(a, b.t()), expected) < 1e-5);
  CHECK(distance(multiply_transposed(a.t().contiguous().t(), b.t().contiguous()), expected) < 1e-5);
  CHECK(multiply_transposed(torch::randn({0, 3}), torch::randn({4, 3})).size(0) == 0);
}

TEST_CASE("bf16 rows: widened exactly, narrowed to the nearest even, NaN kept") {
  const std::vector<float> values = {1.0f, 1.00390625f, 1.01171875f, -0.0f, INFINITY, NAN, 3e38f};
  std::vector<c10::BFloat16> narrow(values.size());
  row::fp32_to_bf16(values.data(), narrow.data(), static_cast<std::int64_t>(values.size()));
  std::vector<float> back(values.size());
  row::bf16_to_fp32(narrow.data(), back.data(), static_cast<std::int64_t>(values.size()));
  CHECK(back[0] == 1.0f);
  CHECK(back[1] == 1.0f);       // halfway: to even
  CHECK(back[2] == 1.015625f);  // halfway: to even
  CHECK(std::signbit(back[3]));
  CHECK(std::isinf(back[4]));
  CHECK(std::isnan(back[5]));
  CHECK(back[6] == Approx(3e38).epsilon(0.004));
}

TEST_CASE("bf16 parts stay within bf16 of fp32") {
  torch::manual_seed(6);
  const Tensor x = torch::randn({8, 64}).to(torch::kBFloat16);
  const Tensor weight = torch::rand({64}) + 0.5;
  const Tensor normed = rms_norm(x, weight, 1e-6);
  CHECK(normed.scalar_type() == torch::kBFloat16);
  CHECK(distance(normed, rms_norm(x.to(torch::kFloat), weight, 1e-6)) < 0.02);
  CHECK(distance(swiglu(x), swiglu(x.to(torch::kFloat))) < 0.04);
}

TEST_CASE("Cross entropy of a row, long and with a very improbable label") {
  const Tensor logits = torch::linspace(-60, 60, 150001);
  const auto* values = logits.const_data_ptr<float>();
  const double sum = logits.to(torch::kDouble).exp().sum().log().item<double>();
  CHECK(row::cross_entropy(values, 0, logits.size(0)) == Approx(sum + 60).epsilon(1e-6));
  Tensor gradient = logits.clone();
  const float loss =
      row::cross_entropy_in_place(gradient.mutable_data_ptr<float>(), 0, logits.size(0));
  CHECK(loss == Approx(sum + 60).epsilon(1e-6));
  CHECK(gradient[0].item<float>() == Approx(-1));
  CHECK(gradient.sum().item<double>() == Approx(0).margin(1e-5));
}
