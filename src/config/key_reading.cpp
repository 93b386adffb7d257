#include "config/key_reading.h"

#include <fmt/format.h>

namespace cohort::config {

std::string_view kind_of(const Value& value) {
  struct Visitor {
    std::string_view operator()(bool) const { return "a boolean"; }
    std::string_view operator()(std::int64_t) const { return "a whole number"; }
    std::string_view operator()(double) const { return "a number with a fraction"; }
    std::string_view operator()(const std::string&) const { return "text"; }
    std::string_view operator()(const Value::TextList& list) const {
      return list.empty() ? "an empty list" : "a list of text";
    }
    std::string_view operator()(const Value::WholeList&) const { return "a list of whole numbers"; }
    std::string_view operator()(const Value::RealList&) const { return "a list of numbers"; }
    std::string_view operator()(const Value::Other& other) const { return other.description; }
  };
  return std::visit(Visitor{}, value.data);
}

Error wrong_kind(const Value& value) {
  return {ErrorCode::kUsage, fmt::format("is {}", kind_of(value))};
}

Error out_of_range() {
  return {ErrorCode::kUsage, "is out of range"};
}

bool is_auto(const Value& value) {
  const auto* word = std::get_if<std::string>(&value.data);
  return word != nullptr && *word == kAuto;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace cohort::config
