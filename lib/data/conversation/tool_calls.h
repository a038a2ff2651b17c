// Tools and tool calls of a record -> what templates write. Arguments come as an object or as JSON
// text of one; both end as the same JSON, never quoted twice. Anything else is refused; null and
// empty text are {}.
#pragma once

#include <cstdint>

#include "data/conversation/conversation.h"
#include "data/json/json_record.h"

namespace odb {

class ToolReader {
 public:
  // `tools`: a list, or JSON text of one. Appends to `into.tools`.
  void read_tools(const JsonValue& tools, Conversation& into);

  // `calls`: a list of {"function": {"name", "arguments"}} or {"name", "arguments"}. Appends to
  // `into.tool_calls` and returns how many. `place` is for messages ("messages[2].tool_calls").
  std::uint32_t read_calls(const JsonValue& calls, std::string_view place, Conversation& into);

  // `call`: one such object, or JSON text of one or of a list (ShareGPT's function_call).
  std::uint32_t read_call(const JsonValue& call, std::string_view place, Conversation& into);

 private:
  void read_one(const JsonValue& call, std::string_view place, Conversation& into);

  JsonParser texts_;      // JSON inside a string of the record
  JsonParser arguments_;  // JSON inside a string inside that
};

}  // namespace odb
