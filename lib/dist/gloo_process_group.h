// A Gloo process group of LibTorch whose connections are made when first used.
//
// Only gloo_process_group.cc includes Gloo's headers: the LibTorch package carries Gloo's code but
// not its headers, which come from the system (libgloo-dev); the system's library is never linked.
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

// A group whose keys in `store` start with options.prefix. Does not wait for other ranks: a
// connection is made when first used, within connect_limit, which limits collectives too until
// lift_limits(). UsageError: the machine has no such network.
c10::intrusive_ptr<c10d::Backend> gloo_process_group(const Store& store,
                                                     const GlooGroupOptions& options);

// From now on collectives and connections have no time limit.
void lift_limits(c10d::Backend& group);

// Ends what the threads of such a group are doing, and closes its connections: peers that wait for
// this process get an error. `peers`: some that it is connected to. Without this call a group whose
// peer never answers cannot be destroyed: its destructor waits for its threads.
void end_operations(c10d::Backend& group, const std::set<int>& peers);

// Closes the connections of such a group to `peers`, with whom messages must have been exchanged.
// Call it before destroying a group with messages under way: Gloo ends its thread only when no
// socket has anything to read, and what arrives for a canceled message stays unread for ever.
void close_connections(c10d::Backend& group, const std::set<int>& peers);

// Gloo's exception for a connection that broke or could not be made.
bool is_gloo_fault(const std::exception& error);

// True when a Gloo device can be made on `hostname` (an address or name of this machine). Opens and
// closes a socket; never throws.
bool gloo_device_works(const std::string& hostname);

}  // namespace odb
