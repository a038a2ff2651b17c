#include "base/host_port.h"

#include "catch.h"

using namespace odb;

TEST_CASE("a host and a port are read from one text, with and without brackets") {
  CHECK(parse_host_port("node7:29500") == HostPort{"node7", 29500});
  CHECK(parse_host_port("10.0.0.1:1") == HostPort{"10.0.0.1", 1});
  CHECK(parse_host_port("[fe80::1]:29500") == HostPort{"fe80::1", 29500});
  CHECK(parse_host_port("fe80::1:29500") == HostPort{"fe80::1", 29500});
  for (const char* text : {"", "node7", "node7:", ":29500", "[]:29500", "node7:0", "node7:65536",
                           "node7:x", "[::1:29500", "::1]:29500", "node7: 29500"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_host_port(text));
  }
}

TEST_CASE("an address is printed as it can be read") {
  for (const HostPort& address : {HostPort{"node7", 29500}, HostPort{"fe80::1", 29500}})
    CHECK(parse_host_port(to_text(address)) == address);
  CHECK(to_text(HostPort{"::1", 5}) == "[::1]:5");
}

TEST_CASE("an address loses its brackets, other texts stay") {
  CHECK(odb::without_brackets("[::1]") == "::1");
  for (const char* text : {"::1", "node7", "", "[", "[x", "x]"})
    CHECK(odb::without_brackets(text) == text);
}
