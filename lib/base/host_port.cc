#include "base/host_port.h"

#include <fmt/format.h>

#include "base/text.h"

namespace odb {

std::string to_text(const HostPort& address) {
  const bool has_colon = address.host.find(':') != std::string::npos;
  return has_colon ? fmt::format("[{}]:{}", address.host, address.port)
                   : fmt::format("{}:{}", address.host, address.port);
}

std::string without_brackets(const std::string& host) {
  const bool has_brackets = host.starts_with('[') && host.ends_with(']');
  return has_brackets ? host.substr(1, host.size() - 2) : host;
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = parse_integer<std::uint16_t>(text.substr(colon + 1));
  std::string host = without_brackets(std::string(text.substr(0, colon)));
  if (host.empty() || host.find_first_of("[]") != std::string::npos) return std::nullopt;
  if (!port || *port == 0) return std::nullopt;
  return HostPort{.host = std::move(host), .port = *port};
}

}  // namespace odb
