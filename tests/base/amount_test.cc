#include "base/amount.h"

#include <limits>

#include "catch.h"

using namespace odb;
using std::chrono::milliseconds;

TEST_CASE("amounts are read with every unit and printed so that they read back") {
  struct Row {
    const char* text;
    Amount amount;
    const char* printed;
  };
  const Row rows[] = {
      {"3e", {3, Unit::epochs}, "3 epochs"},
      {"1 epoch", {1, Unit::epochs}, "1 epoch"},
      {"0.25e", {0.25, Unit::epochs}, "0.25 epochs"},
      {"0.000001 epochs", {0.000001, Unit::epochs}, "0.000001 epochs"},
      {"2.5epochs", {2.5, Unit::epochs}, "2.5 epochs"},
      {"1.5M tokens", {1'500'000, Unit::tokens}, "1.5M tokens"},
      {"64k tokens", {64'000, Unit::tokens}, "64k tokens"},
      {"8192 tokens", {8192, Unit::tokens}, "8192 tokens"},
      {"2B tokens", {2e9, Unit::tokens}, "2B tokens"},
      {"0.002k tokens", {2, Unit::tokens}, "2 tokens"},
      {"500 samples", {500, Unit::samples}, "500 samples"},
      {"1 sample", {1, Unit::samples}, "1 sample"},
      {"100steps", {100, Unit::steps}, "100 steps"},
      {" 100  steps ", {100, Unit::steps}, "100 steps"},
      {"1500 steps", {1500, Unit::steps}, "1.5k steps"},
      {"9007199254740992 steps", {9007199254740992.0, Unit::steps}, "9007199254740992 steps"},
      {"30min", {1800, Unit::seconds}, "30min"},
      {"1h30min", {5400, Unit::seconds}, "1h30min"},
      {"250ms", {0.25, Unit::seconds}, "250ms"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const Reading<Amount> reading = read_amount(row.text);
    INFO(reading.problem);
    REQUIRE(reading.value.has_value());
    CHECK(*reading.value == row.amount);
    CHECK(print_amount(*reading.value) == row.printed);
    CHECK(read_amount(row.printed).value == row.amount);
  }
}

TEST_CASE("texts that are no amount are refused with the reason") {
  struct Row {
    const char* text;
    const char* problem;
  };
  const Row rows[] = {
      {"", "a number must come first"},
      {"tokens", "a number must come first"},
      {".5e", "a number must come first"},
      {"1.e", "a number must come first"},
      {"200", "the unit is missing"},
      {"64k", "the unit is missing"},
      {"-3 steps", "a sign is not allowed"},
      {"+3 steps", "a sign is not allowed"},
      {"0 steps", "must be more than 0"},
      {"0min", "must be more than 0"},
      {"3x", "unknown unit 'x'"},
      {"3e5 steps", "unknown unit '5 steps'"},
      {"3m", "unknown unit 'm'"},
      {"3 ktokens", "unknown unit 'ktokens'"},
      {"3 steps more", "unknown unit 'more'"},
      {"1.2.3 steps", "unknown unit '.3 steps'"},
      {"1.5 steps", "not a whole number"},
      {"0.0001k tokens", "not a whole number"},
      {"0.0000001 epochs", "too fine a fraction"},
      {"9007199254740993 steps", "too large"},
      {"99999999999999999999 steps", "too large"},
      {"9999999999B tokens", "too large"},
      {"0.99999999999999999999 epochs", "too many digits"},
      {"nan steps", "a number must come first"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    const Reading<Amount> reading = read_amount(row.text);
    CHECK_FALSE(reading.value.has_value());
    CHECK(reading.problem == row.problem);
  }
}

TEST_CASE("an option can narrow the units of an amount and give a plain number one") {
  const AcceptedUnits accepted{.units = {Unit::steps, Unit::seconds}, .bare = Unit::steps};
  CHECK(read_amount("200", accepted).value == Amount{200, Unit::steps});
  CHECK(read_amount("2k", accepted).value == Amount{2000, Unit::steps});
  CHECK(read_amount("2h", accepted).value == Amount{7200, Unit::seconds});
  CHECK(read_amount("3e", accepted).problem == "epochs are not accepted here");
  CHECK(amount_examples(accepted) == "100 steps or 30min (a plain number means steps)");
  CHECK(amount_examples({}) == "3e, 500 samples, 1.5M tokens, 100 steps or 30min");
}

TEST_CASE("durations are read exactly and printed so that they read back") {
  struct Row {
    const char* text;
    int64_t milliseconds;
    const char* printed;
  };
  const Row rows[] = {{"90s", 90'000, "1min30s"},
                      {"5min", 300'000, "5min"},
                      {"2h", 7'200'000, "2h"},
                      {"1h30min", 5'400'000, "1h30min"},
                      {"1h 30min", 5'400'000, "1h30min"},
                      {"1.5h", 5'400'000, "1h30min"},
                      {"0.5s", 500, "500ms"},
                      {"1d", 86'400'000, "1d"},
                      {"2d3h4min5s6ms", 183'845'006, "2d3h4min5s6ms"},
                      {"0s", 0, "0s"},
                      {"9007199254740992ms", 9007199254740992, "104249991d8h59min992ms"}};
  for (const Row& row : rows) {
    INFO(row.text);
    const auto reading = read_duration(row.text);
    INFO(reading.problem);
    REQUIRE(reading.value.has_value());
    CHECK(reading.value->count() == row.milliseconds);
    CHECK(print_duration(*reading.value) == row.printed);
    CHECK(read_duration(row.printed).value == milliseconds(row.milliseconds));
  }

  const std::pair<const char*, const char*> bad[] = {
      {"", "a number must come first"},       {"90", "the unit is missing"},
      {"1h30", "the unit is missing"},        {"5m", "unknown unit 'm'"},
      {"30min1h", "'h' cannot follow 'min'"}, {"1h1h", "'h' cannot follow 'h'"},
      {"-5min", "a sign is not allowed"},     {"0.5ms", "finer than 1ms"},
      {"9007199254740993ms", "too large"},    {"104249992d", "too large"},
      {"104249991d 23h", "too large"},        {"1h,", "a number must come first"}};
  for (const auto& [text, problem] : bad) {
    INFO(text);
    CHECK_FALSE(read_duration(text).value.has_value());
    CHECK(read_duration(text).problem == problem);
  }
}

TEST_CASE("byte sizes know decimal and binary units") {
  struct Row {
    const char* text;
    int64_t bytes;
    const char* printed;
  };
  const Row rows[] = {{"5GB", 5'000'000'000, "5GB"},
                      {"512MiB", 536'870'912, "512MiB"},
                      {"1 KiB", 1024, "1KiB"},
                      {"1.5GB", 1'500'000'000, "1500MB"},
                      {"0.5GiB", 536'870'912, "512MiB"},
                      {"123B", 123, "123B"},
                      {"0B", 0, "0B"},
                      {"1kB", 1000, "1kB"},
                      {"2TB", 2'000'000'000'000, "2TB"},
                      {"8192TiB", 9007199254740992, "8192TiB"}};
  for (const Row& row : rows) {
    INFO(row.text);
    const auto reading = read_byte_size(row.text);
    INFO(reading.problem);
    REQUIRE(reading.value.has_value());
    CHECK(reading.value->bytes == row.bytes);
    CHECK(print_byte_size(*reading.value) == row.printed);
    CHECK(read_byte_size(row.printed).value == *reading.value);
  }
  CHECK(read_byte_size("5").problem == "the unit is missing");
  CHECK(read_byte_size("5G").problem == "unknown unit 'G'");
  CHECK(read_byte_size("5KB").problem == "unknown unit 'KB'");
  CHECK(read_byte_size("1.5B").problem == "not a whole number of bytes");
  CHECK(read_byte_size("8193TiB").problem == "too large");
  CHECK(read_byte_size("1GB 1MB").problem == "unknown unit '1MB'");
}

TEST_CASE("counts know their own unit's name") {
  CHECK(read_count("64k", "tokens").value == 64'000);
  CHECK(read_count("64k tokens", "tokens").value == 64'000);
  CHECK(read_count("1 token", "tokens").value == 1);
  CHECK(read_count("0").value == 0);
  CHECK(read_count("1.5M").value == 1'500'000);
  CHECK(read_count("64k samples", "tokens").problem == "unknown unit 'samples'");
  CHECK(read_count("1 s").problem == "unknown unit 's'");
  CHECK(read_count("64G", "tokens").problem == "unknown unit 'G'");
}

TEST_CASE("a period is crossed when one of its multiples is passed or reached") {
  const Amount period{1000, Unit::tokens};
  struct Row {
    double before, after;
    bool crossed;
  };
  const Row rows[] = {{0, 999, false},     {0, 1000, true},     {999, 1000, true},
                      {1000, 1000, false}, {1000, 1999, false}, {900, 2100, true},
                      {1999, 5000, true},  {0, 0, false},       {2000, 2001, false}};
  for (const Row& row : rows) {
    INFO(row.before << " to " << row.after);
    CHECK(crossed(period, row.before, row.after) == row.crossed);
  }
  CHECK(crossed({3, Unit::steps}, 9007199254740990.0, 9007199254740991.0) == false);
  CHECK(crossed({3, Unit::steps}, 9007199254740989.0, 9007199254740990.0) == true);
  CHECK_THROWS(crossed(period, 2, 1));
}

TEST_CASE("every whole count that is printed reads back as itself") {
  // All powers of ten and two with their neighbors: where suffixes and decimals change.
  for (int64_t base : {2, 10}) {
    for (int64_t power = 1; power < kLargestAmount / base; power *= base) {
      for (int64_t count : {power - 1, power, power + 1, power * 3 / 2}) {
        if (count == 0) continue;
        const Amount amount{static_cast<double>(count), Unit::tokens};
        INFO(print_amount(amount));
        CHECK(read_amount(print_amount(amount)).value == amount);
        CHECK(read_byte_size(print_byte_size({count})).value == ByteSize{count});
        CHECK(read_duration(print_duration(milliseconds(count))).value == milliseconds(count));
      }
    }
  }
}
