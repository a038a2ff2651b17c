// Gloo's network devices. Only this and gloo_process_group.cc include Gloo's headers: the LibTorch
// package carries Gloo's code but not its headers, which come from the system (libgloo-dev); the
// system's library is never linked.
#pragma once

#include <string>

namespace odb {

// True when a Gloo device can be made on `hostname` (an address or name of this machine). Opens and
// closes a socket; never throws.
bool gloo_device_works(const std::string& hostname);

}  // namespace odb
