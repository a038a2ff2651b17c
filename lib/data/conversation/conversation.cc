#include "data/conversation/conversation.h"

#include <array>

namespace odb {

std::string_view role_name(Role role) {
  constexpr std::array<std::string_view, 4> kNames = {"system", "user", "assistant", "tool"};
  return kNames[static_cast<std::size_t>(role)];
}

}  // namespace odb
