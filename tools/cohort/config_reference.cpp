
#include "config_reference.h"

#include <fmt/format.h>

namespace cohort::tool {
namespace {

using config::Key;
using config::section_of;

std::string default_of(const Key& key) {
  return key.fallback.empty() ? "decided at run time" : key.fallback;
}

// The text as one word of a shell.
std::string shell_word(const std::string& text) {
  return text.find_first_of("\" [*") == std::string::npos ? text : fmt::format("'{}'", text);
}

}  // namespace

std::string explain(const Key& key) {
  const std::string_view section = section_of(key.name);
  const std::string_view leaf = std::string_view(key.name).substr(section.size() + 1);
  const std::string& example = !key.example.empty() ? key.example : key.fallback;
  return fmt::format(
      "{}\n  {}\n\n  type     {}\n  allowed  {}\n  default  {}\n\n  in a file           [{}]\n"
      "                      {} = {}\n  on a command line   --set {}\n",
      key.name, key.help, key.type, key.allowed, default_of(key), section, leaf, example,
      shell_word(key.name + "=" + example));
}

std::string config_page(std::span<const Key> keys) {
  std::string page =
      "# Configuration keys\n\n"
      "Written by `cohort reference config` from the tables in src/config. A job is a TOML file; "
      "every key may be\n"
      "left out. `--set section.key=value` on a command line wins over the file. `cohort config explain KEY` "
      "prints\n"
      "one row, `cohort config check FILE` lists all mistakes of a file, `cohort config show FILE` prints "
      "the "
      "resulting values.\n";
  for (const std::string& section : config::section_names(keys)) {
    page += fmt::format(
        "\n## [{}]\n\n| key | type | allowed | default | what it does |\n|---|---|---|---|---|\n", section);
    for (const Key& key : keys) {
      if (section_of(key.name) != section) continue;
      const std::string fallback = key.fallback.empty() ? default_of(key) : fmt::format("`{}`", key.fallback);
      page +=
          fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name, key.type, key.allowed, fallback, key.help);
    }
  }
  return page;
}

}  // namespace cohort::tool
