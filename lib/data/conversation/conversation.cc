#include "data/conversation/conversation.h"

#include <array>

#include "base/index.h"

namespace odb {

std::string_view name(Role role) {
  constexpr std::array<std::string_view, 4> kNames = {"system", "user", "assistant", "tool"};
  return at(kNames, role);
}

}  // namespace odb
