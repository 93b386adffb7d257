#pragma once

#include "base/result.h"
#include "config/config.h"
#include "config/document.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cohort::config {

/// One row of the table of keys.
struct Key {
  std::string name;                  ///< `launch.ranks`
  std::string type;                  ///< `whole number`, `text`, `one of`, `size`, …
  std::string allowed;               ///< for messages: `a whole number from 1 to 65536`
  std::string fallback;              ///< the default, written as TOML; empty: decided at run time
  std::string help;                  ///< one sentence
  std::vector<std::string> choices;  ///< for completion; empty unless the key takes one of a few words

  /// Checks a value and stores it in the config.
  /// Failure: kUsage; the message completes the sentence "KEY = VALUE …".
  std::function<Status(const Value&, Config&)> read;
  /// The value in a config, written as TOML; empty if it is not set.
  std::function<std::string(const Config&)> show;

  std::string example{};  ///< an example, written as TOML, for keys without a default; empty: the default
};

template <class T>
struct Range {
  T least;
  T most;
};

/// A member of a Config: `[](auto& c) -> auto& { return c.launch.ranks; }`.
template <class T>
struct Field {
  std::function<T&(Config&)> in;
  const T& operator()(const Config& config) const { return in(const_cast<Config&>(config)); }
  T& operator()(Config& config) const { return in(config); }
};

// The types of keys. Each function makes a row from a field, its default, its range and its help.
Key flag(std::string name, const Field<bool>& field, bool fallback, std::string help);
/// A flag without a default.
Key optional_flag(std::string name, const Field<std::optional<bool>>& field, std::string help);
Key whole_number(const std::string& name, const Field<int>& field, int fallback, Range<int> range,
                 const std::string& help);
Key optional_whole_number(const std::string& name, const Field<std::optional<int>>& field, Range<int> range,
                          const std::string& help);
/// A whole number, or the word auto, which leaves the field empty; the default is auto.
Key whole_number_or_auto(const std::string& name, const Field<std::optional<int>>& field, Range<int> range,
                         const std::string& help);
Key large_whole_number(const std::string& name, const Field<std::uint64_t>& field, std::uint64_t fallback,
                       Range<std::int64_t> range, const std::string& help);
Key real_number(std::string name, const Field<double>& field, double fallback, Range<double> range,
                std::string help);
/// `example` is written as in TOML.
Key optional_real_number(std::string name, const Field<std::optional<double>>& field, Range<double> range,
                         const std::string& example, std::string help);
Key size(std::string name, const Field<std::uint64_t>& field, std::uint64_t fallback,
         Range<std::uint64_t> range, std::string help);
/// A size, or the word auto, which leaves the field empty; the default is auto.
Key size_or_auto(std::string name, const Field<std::optional<std::uint64_t>>& field,
                 Range<std::uint64_t> range, std::string help);
Key duration(std::string name, const Field<std::chrono::nanoseconds>& field,
             std::chrono::nanoseconds fallback, Range<std::chrono::nanoseconds> range, std::string help);
/// `example` is written as in TOML.
Key optional_duration(std::string name, const Field<std::optional<std::chrono::nanoseconds>>& field,
                      Range<std::chrono::nanoseconds> range, const std::string& example, std::string help);
/// A number of steps, `500 steps`, or a duration, `10 min`.
Key interval(std::string name, const Field<std::optional<Interval>>& field, const std::string& example,
             std::string help);
/// `example` is written as in TOML.
Key text_list(std::string name, const Field<std::vector<std::string>>& field, const std::string& example,
              std::string help);
/// Exactly two numbers, both in the range.
Key number_pair(std::string name, const Field<std::pair<double, double>>& field,
                std::pair<double, double> fallback, Range<double> range, std::string help);
/// Two numbers without a default; `example` is written as in TOML.
Key optional_number_pair(std::string name, const Field<std::optional<std::pair<double, double>>>& field,
                         Range<double> range, const std::string& example, std::string help);
Key whole_number_list(std::string name, const Field<std::vector<int>>& field,
                      const std::vector<int>& fallback, Range<int> range, std::string help);
/// The default is the empty list; `example` is written as in TOML.
Key number_list(std::string name, const Field<std::vector<double>>& field, Range<double> range,
                const std::string& example, std::string help);

struct TextHelp {
  std::string sentence;
  std::string example;
};
/// Any text; the default is empty.
Key text(std::string name, const Field<std::string>& field, const TextHelp& help);
/// Any text that is not empty; an empty field is one that is not set.
Key optional_text(std::string name, const Field<std::string>& field, const TextHelp& help);

/// The path of a file or folder that the job reads; the default is empty. In a job file it is relative to the
/// folder of that file, on a command line to the working directory; load() makes it absolute.
Key input_path(std::string name, const Field<std::string>& field, const TextHelp& help);

/// A key that takes one of `words`; `set` stores the index of the word.
Key choice(std::string name, std::vector<std::string> words, const std::string& fallback,
           std::function<void(Config&, std::size_t)> set, std::function<std::size_t(const Config&)> get,
           std::string help);
/// A key that takes one of `words` and stores the word itself.
Key word(std::string name, const Field<std::string>& field, const std::vector<std::string>& words,
         const std::string& fallback, std::string help);

}  // namespace cohort::config
