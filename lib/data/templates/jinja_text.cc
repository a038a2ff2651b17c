#include "data/templates/jinja_text.h"

#include <fmt/format.h>

#include "data/templates/chatml.h"

namespace odb {
namespace {

constexpr std::string_view kPlain = R"({%- for message in messages %}
    {%- if tools or message.tool_calls or message.role == 'tool' %}
        {{- raise_exception('the chat template plain does not support tools') }}
    {%- endif %}
    {{- message.content }}
    {%- if message.role == 'assistant' %}
        {{- eos_token }}
    {%- endif %}
{%- endfor %}
)";

constexpr std::string_view kLlama3 = R"({{- '<|begin_of_text|>' }}
{%- for message in messages %}
    {%- if tools or message.tool_calls or message.role == 'tool' %}
        {{- raise_exception('the chat template llama3 does not support tools') }}
    {%- endif %}
    {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' }}
    {{- message.content | trim }}
    {{- '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
)";

// The date is the one that was trained, whatever the day.
constexpr std::string_view kLlama31 = R"({{- '<|begin_of_text|>' }}
{%- set ns = namespace(next=0) %}
{{- '<|start_header_id|>system<|end_header_id|>\n\n' }}
{%- if tools %}
    {{- 'Environment: ipython\n' }}
{%- endif %}
{{- 'Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n' }}
{%- if messages[0].role == 'system' %}
    {{- messages[0].content | trim }}
    {%- set ns.next = 1 %}
{%- endif %}
{{- '<|eot_id|>' }}
{%- if tools %}
    {%- if messages | length <= ns.next or messages[ns.next].role != 'user' %}
        {{- raise_exception('tools need a user turn to be put into') }}
    {%- endif %}
    {{- '<|start_header_id|>user<|end_header_id|>\n\n' }}
    {{- 'Given the following functions, please respond with a JSON for a function call with its proper ' }}
    {{- 'arguments that best answers the given prompt.\n\nRespond in the format {"name": function ' }}
    {{- 'name, "parameters": dictionary of argument name and its value}.Do not use variables.\n\n' }}
    {%- for tool in tools %}
        {{- tool | tojson(indent=4) }}
        {{- '\n\n' }}
    {%- endfor %}
    {{- messages[ns.next].content | trim }}
    {{- '<|eot_id|>' }}
    {%- set ns.next = ns.next + 1 %}
{%- endif %}
{%- for message in messages[ns.next:] %}
    {%- if message.tool_calls %}
        {%- if message.tool_calls | length != 1 %}
            {{- raise_exception('one tool call in a turn is allowed') }}
        {%- endif %}
        {%- set call = message.tool_calls[0].function or message.tool_calls[0] %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
        {{- '{"name": "' + call.name + '", "parameters": ' }}
        {{- call.arguments if call.arguments is string else call.arguments | tojson }}
        {{- '}' }}
    {%- elif message.role == 'tool' or message.role == 'ipython' %}
        {{- '<|start_header_id|>ipython<|end_header_id|>\n\n' }}
        {{- message.content | tojson }}
    {%- else %}
        {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' }}
        {{- message.content | trim }}
    {%- endif %}
    {{- '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
)";

std::string text_of(std::string_view name) {
  if (name == "plain") return std::string(kPlain);
  if (name == "llama3") return std::string(kLlama3);
  if (name == "llama3.1") return std::string(kLlama31);
  return chatml_style(name) ? jinja_chatml(name) : "";
}

}  // namespace

std::string jinja_text(std::string_view name) {
  std::string text = text_of(name);
  // The name makes two texts differ that Jinja cannot: arguments of calls that came as text.
  if (!text.empty()) text.insert(0, fmt::format("{{#- {}, as odb-trainer writes it #}}\n", name));
  return text;
}

}  // namespace odb
