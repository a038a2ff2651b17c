// A Gloo process group of LibTorch whose connections are made when first used.
#pragma once

#include <string>

#include <c10/util/intrusive_ptr.h>

namespace c10d {
class Backend;
}

namespace odb {

class Store;

// A group of `world` ranks whose keys in `store` start with `prefix`. Does not wait for anybody: a
// connection is made when first used, by both ranks within seconds, and what waits on it later
// brings its own limit. `network`: a local address, or the name of an interface. UsageError: the
// machine has none such.
c10::intrusive_ptr<c10d::Backend> gloo_process_group(const Store& store, const std::string& prefix,
                                                     const std::string& network, int rank,
                                                     int world);

}  // namespace odb
