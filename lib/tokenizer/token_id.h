// The number of a token, as models index their embedding with it. 32 bits and signed, like the
// integer tensors that batches become.
#pragma once

#include <cstdint>

namespace odb {

using TokenId = std::int32_t;

}  // namespace odb
