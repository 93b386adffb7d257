#include "base/check.h"
#include "base/nearest.h"
#include "config/key_reading.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::config {
namespace {

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string list_text(const std::vector<std::string>& items) {
  std::vector<std::string> written;
  for (const std::string& item : items) written.push_back(quoted(item));
  return fmt::format("[{}]", fmt::join(written, ", "));
}

Result<std::string> read_text(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  return wrong_kind(value);
}

}  // namespace

Key text(std::string name, const Field<std::string>& field, const TextHelp& help) {
  return {.name = std::move(name),
          .type = "text",
          .allowed = fmt::format("text like {}", quoted(help.example)),
          .fallback = quoted(""),
          .help = help.sentence,
          .choices = {},
          .read = reader<std::string>(field, read_text),
          .show = [field](const Config& config) { return quoted(field(config)); },
          .example = quoted(help.example)};
}

Key optional_text(std::string name, const Field<std::string>& field, const TextHelp& help) {
  const auto parse = [](const Value& value) -> Result<std::string> {
    COHORT_ASSIGN_OR_RETURN(std::string read, read_text(value));
    if (read.empty()) return Error(ErrorCode::kUsage, "is empty");
    return read;
  };
  return {.name = std::move(name),
          .type = "text",
          .allowed = fmt::format("text like {}", quoted(help.example)),
          .fallback = "",
          .help = help.sentence,
          .choices = {},
          .read = reader<std::string>(field, parse),
          .show =
              [field](const Config& config) {
                return field(config).empty() ? std::string() : quoted(field(config));
              },
          .example = quoted(help.example)};
}

Key input_path(std::string name, const Field<std::string>& field, const TextHelp& help) {
  Key key = text(std::move(name), field, help);
  key.type = kPathType;
  key.allowed = fmt::format("a path like {}", quoted(help.example));
  return key;
}

Key text_list(std::string name, const Field<std::vector<std::string>>& field, const std::string& example,
              std::string help) {
  const auto parse = [](const Value& value) -> Result<std::vector<std::string>> {
    if (const auto* items = std::get_if<Value::TextList>(&value.data)) return *items;
    return wrong_kind(value);
  };
  return {.name = std::move(name),
          .type = "list of text",
          .allowed = fmt::format("a list of text like {}", example),
          .fallback = "[]",
          .help = std::move(help),
          .choices = {},
          .read = reader<std::vector<std::string>>(field, parse),
          .show = [field](const Config& config) { return list_text(field(config)); },
          .example = example};
}

Key choice(std::string name, std::vector<std::string> words, const std::string& fallback,
           std::function<void(Config&, std::size_t)> set, std::function<std::size_t(const Config&)> get,
           std::string help) {
  const auto read = [words, set = std::move(set)](const Value& value, Config& config) -> Status {
    const auto* word = std::get_if<std::string>(&value.data);
    if (word == nullptr) return wrong_kind(value);
    const auto found = std::find(words.begin(), words.end(), *word);
    if (found == words.end()) {
      Error error(ErrorCode::kUsage, "is not known");
      if (const auto meant = nearest(lower_case(*word), words)) {
        error = error.with_remedy(fmt::format("Did you mean \"{}\"?", *meant));
      }
      return error;
    }
    set(config, static_cast<std::size_t>(found - words.begin()));
    return {};
  };
  return {.name = std::move(name),
          .type = "choice",
          .allowed = fmt::format("one of {}", fmt::join(words, ", ")),
          .fallback = quoted(fallback),
          .help = std::move(help),
          .choices = words,
          .read = read,
          .show = [words, get = std::move(get)](const Config& config) {
            const std::size_t index = get(config);
            COHORT_CHECK_LT(index, words.size());
            return quoted(words[index]);
          }};
}

Key word(std::string name, const Field<std::string>& field, const std::vector<std::string>& words,
         const std::string& fallback, std::string help) {
  const auto set = [field, words](Config& config, std::size_t index) { field(config) = words[index]; };
  const auto get = [field, words](const Config& config) {
    const auto found = std::find(words.begin(), words.end(), field(config));
    return static_cast<std::size_t>(found - words.begin());
  };
  return choice(std::move(name), words, fallback, set, get, std::move(help));
}

}  // namespace cohort::config
