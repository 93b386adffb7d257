#include "config/sections.h"

namespace cohort::config {
namespace {

Key log_level() {
  std::vector<std::string> words;
  for (int level = 0; level <= static_cast<int>(LogLevel::kError); ++level) {
    words.emplace_back(name(static_cast<LogLevel>(level)));
  }
  return choice(
      "log.level", words, "warning",
      [](Config& config, std::size_t index) { config.log.level = static_cast<LogLevel>(index); },
      [](const Config& config) { return static_cast<std::size_t>(config.log.level); },
      "The lowest level of messages that are written.");
}

Key log_format() {
  return choice(
      "log.format", {"text", "json"}, "text",
      [](Config& config, std::size_t index) { config.log.format = static_cast<LogFormat>(index); },
      [](const Config& config) { return static_cast<std::size_t>(config.log.format); },
      "The format of messages: lines of text, or one JSON object per line.");
}

}  // namespace

std::vector<Key> log_keys() {
  return {log_level(), log_format()};
}

}  // namespace cohort::config
