#include "checkpoint/json_fields.h"

#include <charconv>
#include <fmt/format.h>

namespace cohort::checkpoint {
namespace {

constexpr std::size_t kHashDigits = 16;

const Json& empty_value() {
  static const Json kNothing;
  return kNothing;
}

// Arrays and objects are not written out: they may be large, or nested deeply.
std::string shortened(const Json& value) {
  constexpr std::size_t kLongest = 40;
  if (value.is_array()) return fmt::format("an array of {}", value.size());
  if (value.is_object()) return fmt::format("an object of {}", value.size());
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  return text;
}

std::optional<GroupSetting> setting_in(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>();
  if (!value.is_array()) return std::nullopt;
  std::vector<double> numbers;
  for (const Json& each : value) {
    if (!each.is_number()) return std::nullopt;
    numbers.push_back(each.get<double>());
  }
  return numbers;
}

}  // namespace

std::string hash_text(std::uint64_t hash) {
  return fmt::format("{:016x}", hash);
}

JsonFields::JsonFields(const Json& object, std::string path, Status& failure)
    : object_(object), path_(std::move(path)), failure_(failure) {
  if (failure_ && !object_.is_object()) refuse("", "an object", shortened(object_));
}

void JsonFields::refuse(std::string_view name, const std::string& expected, const std::string& found) {
  if (!failure_) return;
  std::string field = path_ + std::string(name);
  if (!field.empty() && field.back() == '.') field.pop_back();
  failure_ = Error(ErrorCode::kCorrupt, fmt::format("field '{}' is {}, expected {}", field, found, expected));
}

const Json& JsonFields::member(std::string_view name, Json::value_t type, const char* expected) {
  if (!failure_) return empty_value();
  const auto found = object_.find(std::string(name));
  if (found == object_.end()) {
    refuse(name, expected, "missing");
    return empty_value();
  }
  const bool is_unsigned_too =
      type == Json::value_t::number_integer && found->type() == Json::value_t::number_unsigned;
  if (found->type() == type || is_unsigned_too) return *found;
  refuse(name, expected, shortened(*found));
  return empty_value();
}

bool JsonFields::has(std::string_view name) const {
  return failure_ && object_.contains(std::string(name));
}

bool JsonFields::is_null(std::string_view name) const {
  return has(name) && object_.find(std::string(name))->is_null();
}

std::vector<std::string> JsonFields::names() const {
  std::vector<std::string> all;
  if (!failure_) return all;
  for (const auto& member : object_.items()) all.push_back(member.key());
  return all;
}

std::string JsonFields::text(std::string_view name) {
  const Json& value = member(name, Json::value_t::string, "a text");
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::int64_t JsonFields::whole_number(std::string_view name, std::int64_t least, std::int64_t most) {
  const Json& value = member(name, Json::value_t::number_integer, "a whole number");
  if (value.is_null()) return 0;
  const bool is_too_large =
      value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::int64_t number = is_too_large ? -1 : value.get<std::int64_t>();
  if (!is_too_large && number >= least && number <= most) return number;
  refuse(name, fmt::format("a whole number from {} to {}", least, most), shortened(value));
  return 0;
}

std::optional<double> JsonFields::number(std::string_view name) {
  if (!failure_) return std::nullopt;
  const auto found = object_.find(std::string(name));
  if (found != object_.end() && found->is_null()) return std::nullopt;
  if (found != object_.end() && found->is_number()) return found->get<double>();
  refuse(name, "a number or null", found == object_.end() ? "missing" : shortened(*found));
  return std::nullopt;
}

std::optional<std::uint64_t> JsonFields::hash_in(std::string_view digits) const {
  std::uint64_t hash = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), hash, 16);
  if (problem != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return hash;
}

std::uint64_t JsonFields::hash(std::string_view name) {
  const auto all = hashes(name, 1);
  return all.empty() ? 0 : all.front();
}

std::vector<std::uint64_t> JsonFields::hashes(std::string_view name, std::size_t count) {
  const std::string digits = text(name);
  std::vector<std::uint64_t> all;
  if (!failure_) return all;
  if (digits.size() != count * kHashDigits) {
    refuse(name, fmt::format("{} hexadecimal digits", count * kHashDigits),
           fmt::format("{} characters", digits.size()));
    return all;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto hash = hash_in(std::string_view(digits).substr(i * kHashDigits, kHashDigits));
    if (!hash) {
      refuse(name, "hexadecimal digits", "another text");
      return {};
    }
    all.push_back(*hash);
  }
  return all;
}

std::vector<std::int64_t> JsonFields::whole_numbers(std::string_view name) {
  const Json& array = member(name, Json::value_t::array, "an array of whole numbers");
  std::vector<std::int64_t> numbers;
  for (const Json& value : array) {
    const bool fits = value.is_number_integer() && value.get<std::int64_t>() >= 0;
    if (!fits) {
      refuse(name, "an array of whole numbers from 0 on", shortened(value));
      return {};
    }
    numbers.push_back(value.get<std::int64_t>());
  }
  return numbers;
}

JsonFields JsonFields::object(std::string_view name) {
  return {member(name, Json::value_t::object, "an object"), path_ + std::string(name) + ".", failure_};
}

std::map<std::string, std::string> JsonFields::texts(std::string_view name) {
  const Json& object = member(name, Json::value_t::object, "an object of texts");
  std::map<std::string, std::string> all;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) {
      refuse(fmt::format("{}.{}", name, key), "a text", shortened(value));
      return {};
    }
    all.emplace(key, value.get<std::string>());
  }
  return all;
}

std::vector<std::string> JsonFields::text_list(std::string_view name) {
  const Json& array = member(name, Json::value_t::array, "an array of texts");
  std::vector<std::string> all;
  for (const Json& value : array) {
    if (!value.is_string()) {
      refuse(name, "an array of texts", shortened(value));
      return {};
    }
    all.push_back(value.get<std::string>());
  }
  return all;
}

std::map<std::string, GroupSetting> JsonFields::settings(std::string_view name) {
  const Json& object = member(name, Json::value_t::object, "an object of settings");
  std::map<std::string, GroupSetting> all;
  for (const auto& [key, value] : object.items()) {
    if (value.is_null()) continue;
    if (const auto setting = setting_in(value)) {
      all.emplace(key, *setting);
    } else {
      refuse(fmt::format("{}.{}", name, key), "true, false, a number or an array of numbers",
             shortened(value));
      return {};
    }
  }
  return all;
}

}  // namespace cohort::checkpoint
