#include "base/options/table.h"

#include <algorithm>
#include <set>

namespace odb {
namespace {

bool is_option_name(std::string_view name) {
  const bool good_letters = std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  return good_letters && name.size() >= 2 && !name.starts_with('-') && !name.ends_with('-');
}

}  // namespace

Option& OptionTable::make_option(std::string name) {
  ODB_CHECK(is_option_name(name), "'{}' is not an option name", name);
  ODB_CHECK(!find(name), "the option {} is declared twice", name);
  Option& option = options_.emplace_back();
  option.name = std::move(name);
  option.group = group_;
  return option;
}

OptionDeclaration<bool> OptionTable::add_switch(std::string name, bool& variable) {
  OptionDeclaration<bool> declaration = add(std::move(name), variable);
  options_.back().is_switch = true;
  return declaration;
}

void OptionTable::exclusive(std::vector<std::string> names) {
  for (const std::string& name : names) {
    const Option* option = find(name);
    ODB_CHECK(option, "the exclusive option {} is not declared", name);
    ODB_CHECK(option->optional && option->default_values.empty(),
              "the exclusive option {} must be optional, without a default", name);
  }
  exclusive_.push_back(std::move(names));
}

void OptionTable::require(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find(options_, name, &Option::name);
    ODB_CHECK(found != options_.end(), "the required option {} is not declared", name);
    ODB_CHECK(!found->is_given(), "the required option {} has a default", name);
    found->required = true;
  }
}

std::vector<const Option*> OptionTable::options() const {
  std::vector<const Option*> result;
  result.reserve(options_.size());
  for (const Option& option : options_)
    result.push_back(&option);
  return result;
}

std::vector<std::string> OptionTable::names() const {
  std::vector<std::string> result;
  result.reserve(options_.size());
  for (const Option& option : options_)
    result.push_back(option.name);
  return result;
}

const Option* OptionTable::find(std::string_view name) const {
  const auto found = std::ranges::find(options_, name, &Option::name);
  return found == options_.end() ? nullptr : &*found;
}

void OptionTable::check_declarations() const {
  std::set<std::string> names;
  for (const Option& option : options_) {
    for (const std::string& name : option.all_names()) {
      ODB_CHECK(is_option_name(name), "'{}' is no option name", name);
      ODB_CHECK(names.insert(name).second, "the option {} is declared twice", name);
    }
    ODB_CHECK(!option.help.empty(), "the option {} has no help", option.name);
    ODB_CHECK(!option.group.empty(), "the option {} has no group", option.name);
    try {
      option.write(option.read());
    } catch (const UsageError& error) {
      throw InternalError("the default of the option {} breaks its rules: {}", option.name,
                          error.what());
    }
  }
}

}  // namespace odb
