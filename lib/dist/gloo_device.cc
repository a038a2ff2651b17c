#include "dist/gloo_device.h"

#include <exception>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace odb {

bool gloo_device_works(const std::string& hostname) {
  try {
    return c10d::ProcessGroupGloo::createDeviceForHostname(hostname) != nullptr;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace odb
