// A Gloo process group of LibTorch whose connections are made when first used.
#pragma once

#include <set>
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

// Closes the connections of such a group to `peers`, which must have been talked to. To be done
// before a group with messages under way is let go: Gloo ends its thread only when no socket has
// anything to be read, and what comes for a message that was given up stays unread for ever.
void close_connections(c10d::Backend& group, const std::set<int>& peers);

}  // namespace odb
