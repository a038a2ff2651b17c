// LibTorch's NCCL process group, as these trainers use it: no watchdog, no limits. Only its source
// file includes NCCL's headers.
#pragma once

#include <string>

#include <c10/util/intrusive_ptr.h>
#include <torch/types.h>

namespace c10d {
class Backend;
}

namespace odb {

class Store;

// Whether this binary's LibTorch has NCCL.
bool has_nccl();

// A group whose communicator on `device` is made with its first collective. Sets LibTorch's
// environment variables first: its watchdog would end the process when a peer is merely slow, and
// with another exit code than ours. When a peer dies, a collective on the device and the CPU thread
// wait for ever: the heartbeat ends the process. InternalError: a build without NCCL.
c10::intrusive_ptr<c10d::Backend> nccl_process_group(const Store& store, const std::string& prefix,
                                                     int rank, int world, torch::Device device);

// Ends what is under way on the device; the group cannot be used any more.
void abort_nccl(c10d::Backend& group);

}  // namespace odb
