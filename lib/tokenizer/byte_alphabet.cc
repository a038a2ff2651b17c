#include "tokenizer/byte_alphabet.h"

#include <array>

#include "tokenizer/utf8.h"

namespace odb {

namespace {

constexpr std::uint32_t kFirstReplacement = 0x100;
constexpr int kNoByte = -1;

constexpr bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<std::uint16_t, 256> make_letters() {
  std::array<std::uint16_t, 256> letters{};
  std::uint16_t next = kFirstReplacement;
  for (unsigned byte = 0; byte < 256; ++byte) {
    letters[byte] = stands_for_itself(byte) ? static_cast<std::uint16_t>(byte) : next++;
  }
  return letters;
}

constexpr std::array<std::uint16_t, 256> kLetters = make_letters();
constexpr std::size_t kAlphabetEnd = kFirstReplacement + 68;

constexpr std::array<std::int16_t, kAlphabetEnd> make_bytes() {
  std::array<std::int16_t, kAlphabetEnd> bytes{};
  for (auto& byte : bytes)
    byte = kNoByte;
  for (unsigned byte = 0; byte < 256; ++byte)
    bytes[kLetters[byte]] = static_cast<std::int16_t>(byte);
  return bytes;
}

constexpr std::array<std::int16_t, kAlphabetEnd> kBytes = make_bytes();

}  // namespace

std::uint32_t letter_of_byte(std::uint8_t byte) {
  return kLetters[byte];
}

std::string spell_bytes(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes)
    append_utf8(kLetters[static_cast<unsigned char>(byte)], out);
  return out;
}

void append_spelled_bytes(std::string_view spelling, std::string& bytes) {
  const std::size_t before = bytes.size();
  for (std::size_t at = 0; at < spelling.size();) {
    const CodePoint letter = read_code_point(spelling.data() + at);
    if (letter.value >= kAlphabetEnd || kBytes[letter.value] == kNoByte) {
      bytes.resize(before);
      bytes += spelling;
      return;
    }
    bytes.push_back(static_cast<char>(kBytes[letter.value]));
    at += letter.bytes;
  }
}

}  // namespace odb
