// The address of a service: "node7:29500", "[fe80::1]:29500".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace odb {

struct HostPort {
  std::string host;  // a name, or an address without brackets
  std::uint16_t port = 0;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// An IPv6 address is printed in brackets.
std::string to_text(const HostPort& address);

// "[::1]" -> "::1"; other texts as they are.
std::string without_brackets(const std::string& host);

// Nothing for a text without host or port, or with port 0. Brackets around a host are optional.
std::optional<HostPort> parse_host_port(std::string_view text);

}  // namespace odb
