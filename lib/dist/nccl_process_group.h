// LibTorch's NCCL process group, as these trainers use it: no watchdog, no limits. Only the source
// of this includes NCCL's headers.
#pragma once

#include <string>

#include <c10/util/intrusive_ptr.h>
#include <torch/types.h>

namespace c10d {
class Backend;
}

namespace odb {

class Store;

// Whether this binary's LibTorch brings NCCL.
bool has_nccl();

// A group whose communicator on `device` is made with its first collective. Sets LibTorch's
// environment variables first: its watchdog would end the process where a peer is merely slow, and
// with another exit code than ours. A peer that dies leaves a collective on the device waiting for
// ever, and the CPU with it: the heartbeat ends the process. InternalError: a build without NCCL.
c10::intrusive_ptr<c10d::Backend> nccl_process_group(const Store& store, const std::string& prefix,
                                                     int rank, int world, torch::Device device);

// Ends what is under way on the device; the group is of no more use.
void abort_nccl(c10d::Backend& group);

}  // namespace odb
