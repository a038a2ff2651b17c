// Which of this machine's addresses other ranks reach it by.
#pragma once

#include <string>

#include "dist/store.h"

namespace odb {

// The address that packets from this machine to `host` leave from; what `host` can reach, other
// ranks can too. Asks the routing table, sends nothing. UsageError: the name has no address, or
// there is no way to it.
std::string local_address_towards(const StoreAddress& host);

}  // namespace odb
