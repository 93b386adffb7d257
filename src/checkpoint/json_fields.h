#pragma once

#include "base/result.h"
#include "checkpoint/optimizer_group.h"

#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::checkpoint {

using Json = nlohmann::json;
/// Keeps the order of members. Not for reading: its objects take quadratic time.
using OrderedJson = nlohmann::ordered_json;

/// Reads the members of one JSON object, each of which must have the expected type. Remembers the first
/// failure, after which all reads return zeros and empty texts.
///
/// Threads: one at a time.
/// Lifetime: the object and `failure` must outlive it.
class JsonFields {
 public:
  JsonFields(const Json& object, std::string path, Status& failure);

  std::string text(std::string_view name);
  std::int64_t whole_number(std::string_view name, std::int64_t least,
                            std::int64_t most = std::numeric_limits<std::int64_t>::max());
  /// A number, or null.
  std::optional<double> number(std::string_view name);
  /// 16 hexadecimal digits.
  std::uint64_t hash(std::string_view name);
  /// A text of that many hashes without gaps.
  std::vector<std::uint64_t> hashes(std::string_view name, std::size_t count);
  std::vector<std::int64_t> whole_numbers(std::string_view name);
  JsonFields object(std::string_view name);
  std::map<std::string, std::string> texts(std::string_view name);
  std::vector<std::string> text_list(std::string_view name);
  /// Values by name: true, false, numbers and arrays of numbers.
  /// Nulls are left out.
  std::map<std::string, GroupSetting> settings(std::string_view name);
  /// Calls `read` for every object of an array.
  template <class Read>
  void each(std::string_view name, Read read) {
    const Json& array = member(name, Json::value_t::array, "an array");
    for (std::size_t i = 0; i < array.size() && failure_; ++i) {
      read(JsonFields(array[i], path_ + std::string(name) + "[" + std::to_string(i) + "].", failure_));
    }
  }
  bool has(std::string_view name) const;
  bool is_null(std::string_view name) const;
  std::vector<std::string> names() const;
  bool is_fine() const { return failure_.has_value(); }
  void refuse(std::string_view name, const std::string& expected, const std::string& found);

 private:
  const Json& member(std::string_view name, Json::value_t type, const char* expected);
  std::optional<std::uint64_t> hash_in(std::string_view digits) const;

  const Json& object_;
  const std::string path_;  // empty, or ends with a dot
  Status& failure_;
};

/// `00c0ffee00c0ffee`.
std::string hash_text(std::uint64_t hash);

}  // namespace cohort::checkpoint
