// The heartbeat of a rank whose loss ends the process: prints who was lost, exits with code 5.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "dist/heartbeat.h"

namespace odb {

std::unique_ptr<Heartbeat> start_heartbeat(const StoreAddress& store, int rank, int world,
                                           std::chrono::milliseconds timeout,
                                           std::function<std::string()> phase);

}  // namespace odb
