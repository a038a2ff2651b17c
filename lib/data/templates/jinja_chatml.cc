// ChatML and its variants in Jinja; what differs between them is put together here.
#include "data/templates/chatml.h"
#include "data/templates/jinja_text.h"

namespace odb {
namespace {

// The system turn, with the tools. Follows a line that sets `system`.
constexpr std::string_view kHead = R"({%- if messages[0].role == 'system' %}
    {%- set system = messages[0].content %}
{%- endif %}
{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if system is not none %}
        {{- system + '\n\n' }}
    {%- endif %}
    {{- '# Tools\n\nYou may call one or more functions to assist with the user query.\n\n' }}
    {{- 'You are provided with function signatures within <tools></tools> XML tags:\n<tools>' }}
    {%- for tool in tools %}
        {{- '\n' }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- '\n</tools>\n\nFor each function call, return a json object with function name and arguments ' }}
    {{- 'within <tool_call></tool_call> XML tags:\n<tool_call>\n' }}
    {{- '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call><|im_end|>\n' }}
{%- elif system is not none %}
    {{- '<|im_start|>system\n' + system + '<|im_end|>\n' }}
{%- endif %}
)";

// Where the last question is: thinking is written only after it.
constexpr std::string_view kLastQuestion =
    R"({%- set ns = namespace(question=messages | length - 1) %}
{%- for message in messages %}
    {%- if message.role == 'user' and not (message.content is string and message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.question = loop.index0 %}
    {%- endif %}
{%- endfor %}
)";

constexpr std::string_view kOpenAnswer = R"({%- for message in messages %}
    {%- set content = message.content if message.content is string else (message.content | map(attribute='text') | join if message.content else '') %}
    {%- if message.role == 'assistant' %}
        {{- '<|im_start|>assistant\n' }}
)";

constexpr std::string_view kThinkingAnswer = R"(        {%- set reasoning = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning = message.reasoning_content %}
        {%- elif '</think>' in content %}
            {%- set reasoning = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.question and (loop.last or reasoning) %}
            {{- '<think>\n' + reasoning.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
        {%- else %}
            {{- content }}
        {%- endif %}
)";

constexpr std::string_view kAnswer = R"(        {{- content }}
)";

constexpr std::string_view kRest = R"(        {%- for tool_call in message.tool_calls or [] %}
            {%- set call = tool_call.function or tool_call %}
            {%- if content or not loop.first %}
                {{- '\n' }}
            {%- endif %}
            {{- '<tool_call>\n{"name": "' + call.name + '", "arguments": ' }}
            {{- call.arguments if call.arguments is string else call.arguments | tojson }}
            {{- '}\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == 'tool' %}
        {%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\n<tool_response>\n' + content + '\n</tool_response>' }}
        {%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}
            {{- '<|im_end|>\n' }}
        {%- endif %}
    {%- elif message.role == 'user' or not loop.first %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
)";

constexpr std::string_view kNoThinking =
    R"(    {%- if enable_thinking is defined and not enable_thinking %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
)";

}  // namespace

std::string jinja_chatml(std::string_view name) {
  const ChatmlStyle style = chatml_style(name).value();
  std::string text = "{%- set system = ";
  if (style.default_system.empty())
    text += "none";
  else
    text.append("'").append(style.default_system).append("'");
  text += " %}\n";
  text += kHead;
  if (style.thinking) text += kLastQuestion;
  text += kOpenAnswer;
  text += style.thinking ? kThinkingAnswer : kAnswer;
  text += kRest;
  if (style.thinking) text += kNoThinking;
  text += "{%- endif %}\n";
  return text;
}

}  // namespace odb
