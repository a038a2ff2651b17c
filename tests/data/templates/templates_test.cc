#include "base/error.h"
#include "catch.h"
#include "data/templates/chat_template.h"
#include "data/templates/plain.h"
#include "data/templates/python_strip.h"

using namespace odb;

namespace {

// A tokenizer that knows every token; its id is the length of its text.
const TemplateTokens kTokens{.find = [](std::string_view text) { return TokenId(text.size()); },
                             .eos_token = "<end>"};

// Texts unchanged, controls as <>, answers in brackets.
std::string shown(const Rendering& rendering) {
  std::string out;
  std::int32_t open = kNoAnswer;
  for (const Piece& piece : rendering.pieces()) {
    if (open != kNoAnswer && piece.answer != open) out += "]";
    if (piece.answer != kNoAnswer && piece.answer != open) out += "[";
    open = piece.answer;
    out += piece.is_text() ? rendering.text().substr(piece.begin, piece.end - piece.begin) : "<>";
  }
  return open == kNoAnswer ? out : out + "]";
}

std::string rendered(const std::string& name, const Conversation& conversation) {
  Rendering rendering;
  make_chat_template(name, kTokens)->render(conversation, rendering);
  return shown(rendering);
}

Conversation conversation_of(std::vector<Message> messages) {
  Conversation conversation;
  conversation.messages = std::move(messages);
  return conversation;
}

}  // namespace

TEST_CASE("Answers extend from the first content byte through the end of the turn") {
  const Conversation conversation =
      conversation_of({{.role = Role::user, .content = "Hi"},
                       {.role = Role::assistant, .content = " Hello."},
                       {.role = Role::user, .content = "Bye"},
                       {.role = Role::assistant, .content = ""}});
  CHECK(rendered("chatml", conversation) ==
        "<>user\nHi<>\n<>assistant\n[ Hello.<>]\n<>user\nBye<>\n<>assistant\n[<>]\n");
  CHECK(rendered("llama3", conversation) ==
        "<><>user<>\n\nHi<><>assistant<>\n\n[Hello.<>]<>user<>\n\nBye<><>assistant<>\n\n[<>]");
  CHECK(rendered("plain", conversation) == "Hi[ Hello.<>]Bye[<>]");
  CHECK(rendered("qwen3", conversation) ==
        "<>user\nHi<>\n<>assistant\n[ "
        "Hello.<>]\n<>user\nBye<>\n<>assistant\n[<think>\n\n</think>\n\n<>]\n");
}

TEST_CASE("An answer that is context only is counted but belongs to none") {
  const Conversation conversation =
      conversation_of({{.role = Role::assistant, .content = "a", .supervised = false},
                       {.role = Role::assistant, .content = "b"}});
  Rendering rendering;
  make_chat_template("chatml", kTokens)->render(conversation, rendering);
  CHECK(shown(rendering) == "<>assistant\na<>\n<>assistant\n[b<>]\n");
  CHECK(rendering.answers() == 2);
}

TEST_CASE("Plain ChatML writes tools as Qwen3 does and contents unchanged") {
  Conversation conversation =
      conversation_of({{.role = Role::assistant, .content = "<think>\nx\n</think>\n\ny"},
                       {.role = Role::user, .content = "u"},
                       {.role = Role::assistant, .calls = 1}});
  conversation.tool_calls.push_back(
      {.name = "f", .arguments_text = "{\"a\":1}", .arguments = "{\"a\": 1}"});
  CHECK(rendered("chatml", conversation) ==
        "<>assistant\n[<think>\nx\n</think>\n\ny<>]\n<>user\nu<>\n<>assistant\n"
        "[<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call><>]\n");
  CHECK_THAT(rendered("qwen3", conversation), Catch::Contains("\"arguments\": {\"a\":1}}"));
}

TEST_CASE("Templates refuse what they do not support") {
  Conversation with_tools = conversation_of({{.role = Role::user, .content = "u"}});
  with_tools.tools.push_back("{}");
  const Conversation with_result = conversation_of({{.role = Role::tool, .content = "7"}});
  for (const std::string name : {"llama3", "plain"}) {
    CHECK_THROWS_AS(rendered(name, with_tools), DataError);
    CHECK_THROWS_AS(rendered(name, with_result), DataError);
  }
  Conversation parallel = conversation_of({{.role = Role::assistant, .calls = 2}});
  parallel.tool_calls.resize(2);
  CHECK_THROWS_AS(rendered("llama3.1", parallel), DataError);
  Conversation only_system = conversation_of({{.role = Role::system, .content = "s"}});
  only_system.tools.push_back("{}");
  CHECK_THROWS_AS(rendered("llama3.1", only_system), DataError);
  Conversation answer_first = conversation_of({{.role = Role::assistant, .content = "a"}});
  answer_first.tools.push_back("{}");
  CHECK_THROWS_AS(rendered("llama3.1", answer_first), DataError);
}

TEST_CASE("Texts: the completion and the end of the text are the answer") {
  Rendering rendering;
  render_text("1 + 1 =", " 2", std::vector<TokenId>{5}, rendering);
  CHECK(shown(rendering) == "1 + 1 =[ 2<>]");
  rendering.clear();
  render_text("", "once", {}, rendering);
  CHECK(shown(rendering) == "[once]");
}

TEST_CASE("Texts are stripped as Python strips them") {
  CHECK(python_strip(" \t\n\v\f\r\x1c\x1f x \xC2\xA0y\xE3\x80\x80\xC2\x85\xE2\x80\xA8") ==
        "x \xC2\xA0y");
  CHECK(python_strip(" \n ").empty());
  CHECK(python_strip("\xE2\x80\x8B"
                     "x") ==
        "\xE2\x80\x8B"
        "x");  // zero width: no blank
  CHECK(python_strip("").empty());
}
