// A Gloo process group of LibTorch whose connections are made when first used.
#pragma once

#include <exception>
#include <set>
#include <string>

#include <c10/util/intrusive_ptr.h>

#include "dist/gloo_options.h"

namespace c10d {
class Backend;
}

namespace odb {

class Store;

// A group whose keys in `store` start with options.prefix. Does not wait for anybody: a connection
// is made when first used, within connect_limit, which limits collectives too until lift_limits().
// UsageError: the machine has no such network.
c10::intrusive_ptr<c10d::Backend> gloo_process_group(const Store& store,
                                                     const GlooGroupOptions& options);

// From now on collectives and connections take as long as they take.
void lift_limits(c10d::Backend& group);

// Ends what such a group's threads are in the middle of, and closes its connections: peers that
// wait for this process get an error. `peers`: some that it is connected to. Without it a group
// whose peer never answers cannot be let go: its destructor waits for its threads.
void end_operations(c10d::Backend& group, const std::set<int>& peers);

// Closes the connections of such a group to `peers`, which must have been talked to. To be done
// before a group with messages under way is let go: Gloo ends its thread only when no socket has
// anything to be read, and what comes for a message that was given up stays unread for ever.
void close_connections(c10d::Backend& group, const std::set<int>& peers);

// Gloo's word for a connection that broke or could not be made.
bool is_gloo_fault(const std::exception& error);

}  // namespace odb
