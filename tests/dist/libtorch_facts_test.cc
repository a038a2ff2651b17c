#include "dist/libtorch_facts.h"

#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "catch.h"
#include "dist/gloo_process_group.h"

using namespace odb;

TEST_CASE("the facts agree with what LibTorch says of itself") {
  const LibTorchFacts facts = libtorch_facts();
  const std::string built_with = torch::show_config();
  INFO(built_with);
  CHECK(built_with.find("TORCH_VERSION=" + facts.libtorch) != std::string::npos);
  CHECK(facts.gloo == (built_with.find("USE_GLOO=ON") != std::string::npos));
  CHECK(facts.kineto == (built_with.find("-DUSE_KINETO") != std::string::npos));
  CHECK(facts.cuda.empty() == (built_with.find("USE_CUDA=1") == std::string::npos));
  CHECK(static_cast<int>(facts.gpus.size()) == torch::cuda::device_count());
}

TEST_CASE("a CPU build has neither NCCL nor CUPTI, a CUDA build has CUPTI") {
  const LibTorchFacts facts = libtorch_facts();
  CHECK(facts.cupti.empty() == facts.cuda.empty());
  if (facts.cuda.empty()) CHECK(facts.nccl.empty());
}

TEST_CASE("asking twice gives the same, also after LibTorch has worked") {
  const LibTorchFacts before = libtorch_facts();
  CHECK(torch::ones({2, 3}).sum().item<float>() == 6.0F);
  const LibTorchFacts after = libtorch_facts();
  CHECK(before.libtorch == after.libtorch);
  CHECK(before.gpus == after.gpus);
}

TEST_CASE("a Gloo device is made on loopback and not on a name that no machine has") {
  CHECK(gloo_device_works("127.0.0.1"));
  CHECK_FALSE(gloo_device_works("no-such-host.invalid"));
}
