#include "base/error.h"
#include "catch.h"
#include "data/templates/chat_template.h"
#include "data/templates/plain.h"
#include "data/templates/python_strip.h"

using namespace odb;

namespace {

// A tokenizer that knows every token, by its length.
const TemplateTokens kTokens{.find = [](std::string_view text) { return TokenId(text.size()); },
                             .end_of_text = "<end>"};

// Texts as they are, controls as <>, answers in brackets.
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

std::string rendered(const std::string& name, const Conversation& talk) {
  Rendering rendering;
  make_chat_template(name, kTokens)->render(talk, rendering);
  return shown(rendering);
}

Conversation talk_of(std::vector<Message> messages) {
  Conversation talk;
  talk.messages = std::move(messages);
  return talk;
}

}  // namespace

TEST_CASE("Answers run from the first content byte through the end of the turn") {
  const Conversation talk = talk_of({{.role = Role::user, .content = "Hi"},
                                     {.role = Role::assistant, .content = " Hello."},
                                     {.role = Role::user, .content = "Bye"},
                                     {.role = Role::assistant, .content = ""}});
  CHECK(rendered("chatml", talk) ==
        "<>user\nHi<>\n<>assistant\n[ Hello.<>]\n<>user\nBye<>\n<>assistant\n[<>]\n");
  CHECK(rendered("llama3", talk) ==
        "<><>user<>\n\nHi<><>assistant<>\n\n[Hello.<>]<>user<>\n\nBye<><>assistant<>\n\n[<>]");
  CHECK(rendered("plain", talk) == "Hi[ Hello.<>]Bye[<>]");
  CHECK(rendered("qwen3", talk) ==
        "<>user\nHi<>\n<>assistant\n[ "
        "Hello.<>]\n<>user\nBye<>\n<>assistant\n[<think>\n\n</think>\n\n<>]\n");
}

TEST_CASE("An answer that is context only is counted but belongs to none") {
  const Conversation talk = talk_of({{.role = Role::assistant, .content = "a", .supervised = false},
                                     {.role = Role::assistant, .content = "b"}});
  Rendering rendering;
  make_chat_template("chatml", kTokens)->render(talk, rendering);
  CHECK(shown(rendering) == "<>assistant\na<>\n<>assistant\n[b<>]\n");
  CHECK(rendering.answers() == 2);
}

TEST_CASE("Plain ChatML writes tools as Qwen3 does and contents as they stand") {
  Conversation talk = talk_of({{.role = Role::assistant, .content = "<think>\nx\n</think>\n\ny"},
                               {.role = Role::user, .content = "u"},
                               {.role = Role::assistant, .calls = 1}});
  talk.tool_calls.push_back(
      {.name = "f", .arguments_text = "{\"a\":1}", .arguments = "{\"a\": 1}"});
  CHECK(rendered("chatml", talk) ==
        "<>assistant\n[<think>\nx\n</think>\n\ny<>]\n<>user\nu<>\n<>assistant\n"
        "[<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call><>]\n");
  CHECK_THAT(rendered("qwen3", talk), Catch::Contains("\"arguments\": {\"a\":1}}"));
}

TEST_CASE("Templates refuse what they have no rule for") {
  Conversation with_tools = talk_of({{.role = Role::user, .content = "u"}});
  with_tools.tools.push_back("{}");
  const Conversation with_result = talk_of({{.role = Role::tool, .content = "7"}});
  for (const std::string name : {"llama3", "plain"}) {
    CHECK_THROWS_AS(rendered(name, with_tools), DataError);
    CHECK_THROWS_AS(rendered(name, with_result), DataError);
  }
  Conversation parallel = talk_of({{.role = Role::assistant, .calls = 2}});
  parallel.tool_calls.resize(2);
  CHECK_THROWS_AS(rendered("llama3.1", parallel), DataError);
  Conversation only_system = talk_of({{.role = Role::system, .content = "s"}});
  only_system.tools.push_back("{}");
  CHECK_THROWS_AS(rendered("llama3.1", only_system), DataError);
  Conversation answer_first = talk_of({{.role = Role::assistant, .content = "a"}});
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

TEST_CASE("Stripped as Python strips") {
  CHECK(python_strip(" \t\n\v\f\r\x1c\x1f x \xC2\xA0y\xE3\x80\x80\xC2\x85\xE2\x80\xA8") ==
        "x \xC2\xA0y");
  CHECK(python_strip(" \n ").empty());
  CHECK(python_strip("\xE2\x80\x8B"
                     "x") ==
        "\xE2\x80\x8B"
        "x");  // zero width: no blank
  CHECK(python_strip("").empty());
}
