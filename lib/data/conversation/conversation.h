// A conversation as chat templates see it, independent of the record's format: messages with roles,
// tool calls and tools. Texts are views into the record's parser (or into `texts`), valid until its
// next record.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace odb {

enum class Role : std::uint8_t { system, user, assistant, tool };

// "system", "user", "assistant", "tool".
std::string_view name(Role role);

struct ToolCall {
  std::string_view name;
  // As in the record if they are text there, else as Python's json.dumps writes them.
  std::string_view arguments_text;
  // Always as json.dumps writes them.
  std::string_view arguments;
};

struct Message {
  Role role = Role::user;
  std::string_view content;                   // empty where the record has null
  std::optional<std::string_view> reasoning;  // reasoning_content, if the record has it
  std::uint32_t first_call = 0;               // into Conversation::tool_calls
  std::uint32_t calls = 0;
  bool supervised = true;  // false: an answer that is context only
};

// What a record holds that does not reach its sample, to be counted and reported.
struct RecordNotes {
  std::vector<std::string_view> unknown_keys;  // of messages, one for each time; not null ones
  std::uint32_t empty_answers = 0;             // answers to be trained that have no content
  std::uint32_t flagged_prompts = 0;  // turns that are no answers, and are marked to be trained

  void clear() {
    unknown_keys.clear();
    empty_answers = 0;
    flagged_prompts = 0;
  }
};

struct Conversation {
  std::vector<Message> messages;
  std::vector<ToolCall> tool_calls;     // of all messages
  std::vector<std::string_view> tools;  // each as json.dumps writes it
  std::deque<std::string> texts;        // owns texts that are not verbatim in the record

  std::span<const ToolCall> calls(const Message& message) const {
    return std::span(tool_calls).subspan(message.first_call, message.calls);
  }
  // Keeps `text` and returns a view of it.
  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
  void clear() {
    messages.clear();
    tool_calls.clear();
    tools.clear();
    texts.clear();
  }
};

}  // namespace odb
