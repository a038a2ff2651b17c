#include "data/conversation/record_parser.h"

#include <cstring>

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {

RecordBuffer buffer_of(std::string_view text) {
  RecordBuffer buffer;
  std::memcpy(buffer.resize(text.size()).data(), text.data(), text.size());
  return buffer;
}

// "user: Hi | assistant: Hello. [think: x] [call f({})] (context) | tools: ..."
std::string shown(const Conversation& conversation) {
  std::string out;
  for (const Message& message : conversation.messages) {
    out += fmt::format("{}{}: {}", out.empty() ? "" : " | ", name(message.role), message.content);
    if (message.reasoning) out += fmt::format(" [think: {}]", *message.reasoning);
    for (const ToolCall& call : conversation.calls(message))
      out += fmt::format(" [call {}({}{})]", call.name, call.arguments,
                         call.arguments == call.arguments_text
                             ? ""
                             : fmt::format(", spelled {}", call.arguments_text));
    if (!message.supervised) out += " (context)";
  }
  for (const std::string_view tool : conversation.tools)
    out += fmt::format(" | tool {}", tool);
  return out;
}

std::string parse(std::string_view json, RecordParserOptions options = {}) {
  RecordParser parser(std::move(options));
  RecordBuffer buffer = buffer_of(json);
  try {
    const ParsedRecord& record = parser.parse(buffer);
    if (record.kind == RecordKind::conversation) return shown(record.conversation);
    if (record.kind == RecordKind::text)
      return fmt::format("'{}' -> '{}'", record.prompt, record.completion);
    std::string out;
    for (std::size_t i = 0; i < record.tokens.size(); ++i)
      out += fmt::format("{}/{} ", record.tokens[i], record.labels[i]);
    return out;
  } catch (const DataError& error) {
    return fmt::format("refused: {}", error.what());
  }
}

struct Case {
  std::string json;
  std::string expected;
};

void check(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    INFO(each.json);
    CHECK(parse(each.json) == each.expected);
  }
}

void check_refused(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    INFO(each.json);
    CHECK_THAT(parse(each.json), Catch::StartsWith("refused: " + each.expected));
  }
}

}  // namespace

TEST_CASE("OpenAI messages") {
  check({
      {R"({"messages": [{"role": "user", "content": "Hi"}, {"content": "Hello.", "role": "assistant"}]})",
       "user: Hi | assistant: Hello."},
      {R"({"messages": [{"role": "developer", "content": "Be brief."}]})", "system: Be brief."},
      {R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, "c"]}]})",
       "user: abc"},
      {R"({"messages": [{"role": "assistant", "content": null}]})", "assistant: "},
      {R"({"messages": [{"role": "assistant", "content": "x", "reasoning_content": "y", "name": "z"}]})",
       "assistant: x [think: y]"},
      {R"({"messages": [{"role": "assistant", "content": "x", "reasoning_content": null}]})",
       "assistant: x"},
      {R"({"messages": [{"role": "assistant", "content": "x", "weight": 0}, {"role": "assistant", "content": "y", "weight": 1}]})",
       "assistant: x (context) | assistant: y"},
      {R"({"messages": [{"role": "user", "content": "a", "content": "b"}]})", "user: b"},
      {R"({"messages": []})", ""},
      {R"({"messages": [{"from": "human", "content": "a"}, {"role": "assistant", "value": "b"}]})",
       "user: a | assistant: b"},
  });
}

TEST_CASE("ShareGPT conversations") {
  check({
      {R"({"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello."}]})",
       "user: Hi | assistant: Hello."},
      {R"({"system": "S", "conversations": [{"from": "human", "value": "Hi"}]})",
       "system: S | user: Hi"},
      {R"({"system": "", "conversations": [{"from": "human", "value": "Hi"}]})", "user: Hi"},
      {R"({"system": "S", "conversations": [{"from": "system", "value": "S"}, {"from": "human", "value": "Hi"}]})",
       "system: S | user: Hi"},
      {R"({"conversations": [{"from": "human", "value": "t"}, {"from": "function_call", "value": "{\"name\": \"f\", \"arguments\": {\"a\":1}}"}, {"from": "observation", "value": "7"}], "tools": "[{\"name\":\"f\"}]"})",
       R"(user: t | assistant:  [call f({"a": 1})] | tool: 7 | tool {"name": "f"})"},
      {R"({"conversations": [{"from": "function_call", "value": "[{\"name\": \"f\", \"arguments\": \"{}\"}, {\"name\": \"g\", \"arguments\": {}}]"}]})",
       "assistant:  [call f({})] [call g({})]"},
  });
}

TEST_CASE("Of duplicate keys the last value counts, at every depth") {
  check({
      {R"({"text": "a", "text": "b"})", "'' -> 'b'"},
      {R"({"input_ids": [1], "input_ids": [2, 3]})", "2/2 3/3 "},
      {R"({"messages": [], "messages": [{"role": "tool", "role": "user", "content": "a", "content": "b"}]})",
       "user: b"},
      {R"({"messages": [{"role": "user", "content": [{"type": "image", "type": "text", "text": "a", "text": "b"}]}]})",
       "user: b"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "name": "g", "arguments": {}, "arguments": {"a": 1, "a": 2}}]}]})",
       R"(assistant:  [call g({"a": 2})])"},
  });
}

TEST_CASE("Tool calls in all spellings") {
  const std::string expected =
      R"(assistant:  [call f({"a": [1, "ü"]})] | tool {"type": "function", "n": 1.0})";
  const std::string tools = R"("tools": [{"type":"function","n":1.0}])";
  const auto record = [&](const std::string& calls) {
    return R"({"messages": [{"role": "assistant", "content": null, "tool_calls": )" + calls +
           "}], " + tools + "}";
  };
  CHECK(parse(record(R"([{"id": "c", "function": {"name": "f", "arguments": {"a":[1,"ü"]}}}])")) ==
        expected);
  CHECK(parse(record(R"([{"name": "f", "arguments": {"a":[1,"ü"]}}])")) == expected);
  CHECK(parse(record(R"([{"name": "f", "arguments": "{\"a\": [1, \"ü\"]}"}])")) == expected);
  CHECK_THAT(
      parse(record(R"([{"name": "f", "arguments": "{\"a\":[1,\"\\u00fc\"]}"}])")),
      Catch::StartsWith(R"(assistant:  [call f({"a": [1, "ü"]}, spelled {"a":[1,"\u00fc"]})])"));
  CHECK(
      parse(
          R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": " "}, {"name": "g", "arguments": null}]}]})") ==
      "assistant:  [call f({})] [call g({})]");
  CHECK(
      parse(
          R"({"messages": [{"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}]})") ==
      "assistant:  [call f({})]");
  CHECK(parse(R"({"messages": [{"role": "user", "content": "x"}], "tools": ""})") == "user: x");
  CHECK(parse(R"({"messages": [{"role": "user", "content": "x"}], "tools": null})") == "user: x");
}

TEST_CASE("Alpaca, prompt and completion, text, tokens") {
  check({
      {R"({"instruction": "Do.", "input": "it", "output": "Done."})",
       "user: Do.\nit | assistant: Done."},
      {R"({"instruction": "Do.", "input": "", "output": "Done."})", "user: Do. | assistant: Done."},
      {R"({"instruction": "Do.", "output": "Done.", "system": "S", "history": [["a", "b"]]})",
       "system: S | user: a | assistant: b | user: Do. | assistant: Done."},
      {R"({"instruction": "Do."})", "user: Do."},
      {R"({"instruction": "", "input": "x"})", "user: x"},
      {R"({"instruction": "Do.", "tools": [{"name": "f"}]})", R"(user: Do. | tool {"name": "f"})"},
      {R"({"system": "S", "prompt": [{"role": "user", "content": "a"}], "completion": [{"role": "assistant", "content": "b"}]})",
       "system: S (context) | user: a (context) | assistant: b"},
      {R"({"system": "", "prompt": "a", "completion": "b", "tools": []})", "'a' -> 'b'"},
      {R"({"prompt": "1 + 1 =", "completion": " 2"})", "'1 + 1 =' -> ' 2'"},
      {R"({"prompt": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "completion": [{"role": "assistant", "content": "c"}]})",
       "user: a (context) | assistant: b (context) | assistant: c"},
      {R"({"text": "once"})", "'' -> 'once'"},
      {R"({"input_ids": [1, 2, 3]})", "1/1 2/2 3/3 "},
      {R"({"input_ids": [1, 2, 3], "labels": [-100, 2, 3], "text": "x"})", "1/-100 2/2 3/3 "},
  });
}

TEST_CASE("Broken records are refused with the path of the error") {
  check_refused({
      {"[]", "found an array; expected an object"},
      {R"({"a": 1, "b": 2})", "found the keys 'a', 'b'; expected messages, conversations,"},
      {"{}", "found the keys none; expected"},
      {R"({"messages": null})", "found the keys 'messages'; expected"},
      {R"({"messages": "x"})", "messages: found a string; expected a list of messages"},
      {R"({"messages": [1]})", "messages[0]: found a number; expected an object"},
      {R"({"messages": [{"content": "x"}]})", "messages[0]: the key 'role' (or 'from') is missing"},
      {R"({"messages": [{"role": "user"}]})", "messages[0]: the key 'content' is missing"},
      {R"({"messages": [{"role": "user", "content": null}]})", "messages[0].content: found null;"},
      {R"({"messages": [{"role": "user", "content": 7}]})",
       "messages[0].content: found a number; expected a text or a list of parts"},
      {R"({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})",
       "messages[0].content[0]: found a part of type 'image_url'; expected"},
      {R"({"messages": [{"role": "narrator", "content": "x"}]})",
       "messages[0].role: found the role 'narrator'; known: user, assistant,"},
      {R"({"messages": [{"role": 1, "content": "x"}]})", "messages[0].role: found a number;"},
      {R"({"messages": [{"role": "assistant", "content": "x", "reasoning_content": 1}]})",
       "messages[0].reasoning_content: found a number; expected a text"},
      {R"({"messages": [{"role": "assistant", "content": "x", "weight": 0.5}]})",
       "messages[0].weight: found the number 0.5; expected 1 (trained) or 0 (context only)"},
      {R"({"messages": [{"role": "assistant", "tool_calls": {}}]})",
       "messages[0].tool_calls: found an object; expected a list of calls"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"arguments": {}}]}]})",
       "messages[0].tool_calls[0]: the key 'name' is missing"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "{a}"}]}]})",
       "messages[0].tool_calls[0].arguments: found text that is not JSON"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "parameters": {"a": 1}}]}]})",
       "messages[0].tool_calls[0]: the key 'arguments' is missing; expected an object"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": "5"}]}]})",
       "messages[0].tool_calls[0].arguments: found a number; expected an object"},
      {R"({"messages": [{"role": "assistant", "tool_calls": [{"name": "f", "arguments": [1, 2]}]}]})",
       "messages[0].tool_calls[0].arguments: found an array; expected an object"},
      {R"({"prompt": "a", "completion": "b", "system": "S"})",
       "found the key 'system' with a text prompt"},
      {R"({"prompt": "a", "completion": "b", "tools": [{"name": "f"}]})",
       "found the key 'tools' with a text prompt"},
      {R"({"messages": [{"role": "user", "content": "x", "tool_calls": [{"name": "f", "arguments": {}}]}]})",
       "messages[0]: found tool calls in a turn of the role 'user'"},
      {R"({"messages": [{"role": "user", "content": "x"}], "tools": {}})",
       "tools: found an object; expected a list of tools"},
      {R"({"messages": [{"role": "user", "content": "x"}], "tools": ["f"]})",
       "tools[0]: found a string; expected an object"},
      {R"({"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt"}]})",
       "conversations[1]: the key 'value' is missing"},
      {R"({"conversations": [{"from": "function_call", "value": "call f"}]})",
       "conversations[0].value: found text that is not JSON"},
      {R"({"system": "A", "conversations": [{"from": "system", "value": "B"}]})",
       "found two system texts that differ"},
      {R"({"instruction": 1})", "instruction: found a number; expected a text"},
      {R"({"instruction": "x", "history": [["a"]]})", "history: found a turn that is not"},
      {R"({"prompt": "x", "completion": []})",
       "found a string as prompt and an array as completion"},
      {R"({"input_ids": [1], "labels": [1, 2]})",
       "found 2 labels for 1 tokens; expected one per token"},
      {R"({"input_ids": [1, "x"]})", "input_ids[1]: expected a token id"},
      {R"({"input_ids": [99999999999]})", "input_ids[0]: expected a token id"},
  });
}

TEST_CASE("Columns can be mapped to other names") {
  const RecordParserOptions options{
      .columns = ColumnNames({"messages=dialog", "role=speaker", "content=words"})};
  CHECK(parse(R"({"messages": 1, "dialog": [{"speaker": "user", "words": "Hi"}]})", options) ==
        "user: Hi");
  CHECK_THAT(parse(R"({"dialog": [{"speaker": "user"}]})", options),
             Catch::Contains("dialog[0]: the key 'words' is missing"));
  CHECK_THROWS_AS(ColumnNames({"mesages=x"}), UsageError);
  CHECK_THROWS_AS(ColumnNames({"messages="}), UsageError);
  CHECK_THROWS_AS(ColumnNames({"messages"}), UsageError);
}

TEST_CASE("With a given format no other is detected") {
  const RecordParserOptions options{.format = parse_format("sharegpt")};
  CHECK(parse(R"({"messages": 1, "conversations": [{"from": "human", "value": "x"}]})", options) ==
        "user: x");
  CHECK(parse(R"({"messages": [{"role": "user", "content": "x"}]})", options) ==
        "refused: the key 'conversations' is missing");
  CHECK(parse_format("auto") == std::nullopt);
  CHECK_THROWS_AS(parse_format("openai"), UsageError);
}

TEST_CASE("Flags of a turn, under all their names, say whether it is trained") {
  for (const std::string key : {"weight", "train", "training", "trainable", "loss", "loss_mask"})
    for (const std::string no : {"0", "false", "0.0"})
      check({{R"({"messages": [{"role": "assistant", "content": "x", ")" + key + R"(": )" + no +
                  R"(}, {"role": "assistant", "content": "y", ")" + key +
                  R"(": true}, {"role": "assistant", "content": "z", ")" + key + R"(": null}]})",
              "assistant: x (context) | assistant: y | assistant: z"}});
  check({{R"({"conversations": [{"from": "gpt", "value": "x", "train": false, "weight": 0}]})",
          "assistant: x (context)"}});
  check_refused(
      {{R"({"messages": [{"role": "assistant", "content": "x", "train": false, "weight": 1}]})",
        "messages[0].weight: found that the turn is trained, and another key of the message says "
        "the opposite"},
       {R"({"messages": [{"role": "assistant", "content": "x", "loss_mask": [0, 1]}]})",
        "messages[0].loss_mask: found an array; expected true or 1"},
       {R"({"messages": [{"role": "assistant", "content": "x", "train": "false"}]})",
        "messages[0].train: found a string; expected true or 1"},
       {R"({"messages": [{"role": "assistant", "content": "x", "loss": 1e-400}]})",
        "found a number that is too small for 64 bits"},
       {R"({"messages": [{"role": "assistant", "content": "x", "loss": 0.0000001e-320}]})",
        "found a number that is too small for 64 bits"}});
}

TEST_CASE("A mapped flag has no other names") {
  RecordParserOptions options;
  options.columns = ColumnNames({"weight=learn"});
  CHECK(parse(R"({"messages": [{"role": "assistant", "content": "x", "learn": false},
                               {"role": "assistant", "content": "y", "weight": 0, "train": 0}]})",
              options) == "assistant: x (context) | assistant: y");
}

TEST_CASE("Reasoning has three names") {
  for (const std::string key : {"reasoning_content", "reasoning", "thinking"})
    check({{R"({"messages": [{"role": "assistant", "content": "x", ")" + key + R"(": "because"}]})",
            "assistant: x [think: because]"}});
  check({{R"({"messages": [{"role": "assistant", "content": "x", "reasoning": "a",
              "reasoning_content": "a", "thinking": ""}]})",
          "assistant: x [think: a]"}});
  check_refused({{R"({"messages": [{"role": "assistant", "content": "x", "reasoning": "a",
                      "thinking": "b"}]})",
                  "messages[0].thinking: found two texts of reasoning that differ"},
                 {R"({"messages": [{"role": "assistant", "content": "x", "thinking": true}]})",
                  "messages[0].thinking: found true or false; expected a text"}});
}

TEST_CASE("What does not reach the sample is noted") {
  RecordParser parser({});
  const auto notes_of = [&](std::string_view json) {
    RecordBuffer buffer = buffer_of(json);
    const RecordNotes& notes = parser.parse(buffer).notes;
    std::string keys;
    for (const std::string_view key : notes.unknown_keys)
      keys += fmt::format("{} ", key);
    return fmt::format("{}{} {}", keys, notes.empty_answers, notes.flagged_prompts);
  };
  CHECK(notes_of(R"({"messages": [{"role": "user", "content": "q", "score": 1, "name": "n"},
                                  {"role": "assistant", "content": "a", "score": 2, "x": null}]})") ==
        "score score 0 0");
  CHECK(notes_of(R"({"messages": [{"role": "assistant", "content": " \n"},
                                  {"role": "assistant", "content": null},
                                  {"role": "assistant", "content": "", "weight": 0},
                                  {"role": "assistant", "content": "", "thinking": "x"}]})") ==
        "2 0");
  CHECK(notes_of(R"({"messages": [{"role": "user", "content": "q", "train": true},
                                  {"role": "system", "content": "q", "train": false}]})") == "0 1");
  CHECK(notes_of(R"({"instruction": "q", "output": ""})") == "1 0");
  CHECK(notes_of(R"({"prompt": "q", "completion": ""})") == "1 0");
  CHECK(notes_of(R"({"input_ids": [1]})") == "0 0");
}

TEST_CASE("Token rows that were packed, padded or masked elsewhere are refused") {
  check({{R"({"input_ids": [1, 2], "attention_mask": [1, 1], "x": [7]})", "1/1 2/2 "},
         {R"({"input_ids": [1, 2], "attention_mask": [true, 1.0], "x": "y"})", "1/1 2/2 "},
         {R"({"input_ids": [1, 2], "labels": [-100, 2], "loss_mask": [0, 1]})", "1/-100 2/2 "},
         {R"({"input_ids": [1, 2], "position_ids": null})", "1/1 2/2 "}});
  for (const std::string key : {"position_ids", "cu_seqlens", "seq_lengths", "segment_ids"})
    for (const std::string more : {"", R"(, "source": "s")"})
      check_refused({{R"({"input_ids": [1, 2], ")" + key + R"(": [0, 1])" + more + "}",
                      "found the key '" + key + "' beside 'input_ids': the row was packed"}});
  check_refused(
      {{R"({"input_ids": [1, 2], "attention_mask": [1, 0]})",
        "attention_mask: found something else than a list of ones: the row was padded or packed"},
       {R"({"input_ids": [1, 2], "attention_mask": [[1, 0], [1, 1]]})", "attention_mask: found"},
       {R"({"input_ids": [1, 2], "loss_mask": [0, 1]})",
        "found the key 'loss_mask' and no 'labels'; expected labels"}});
}
