// Our chat templates in Jinja, the language of Hugging Face's tokenizers. A run writes the one that
// it used into the model's folder, so that apply_chat_template of transformers gives the ids that
// were trained. Written for this project after chatml.cc, llama3.cc and plain.cc; compared with the
// golden files of the families' own templates.
#pragma once

#include <string>
#include <string_view>

namespace odb {

// The Jinja text of a template by name (chat_template_names); empty for another name. Knows
// add_generation_prompt and tools, and for qwen3 enable_thinking.
std::string jinja_text(std::string_view name);

// The same for the variants of ChatML.
std::string jinja_chatml(std::string_view name);

}  // namespace odb
