#pragma once

#include "base/result.h"
#include "config/config.h"
#include "config/value.h"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cohort::config {

/// One row of the table: everything there is to know about a key.
struct Key {
  std::string name;     ///< `launch.ranks`
  std::string type;     ///< `whole number`, `text`, `one of`, `size`, …
  std::string allowed;  ///< for messages: `a whole number from 1 to 65536`
  std::string
      fallback;  ///< the default as one would write it in TOML; empty when unset means "decided at run time"
  std::string help;                  ///< one sentence
  std::vector<std::string> choices;  ///< for completion; empty unless the key takes one of a few words

  /// Puts a written value into the config.
  /// Failure: kUsage; the message says what is wrong with the value.
  std::function<Status(const Value&, Config&)> read;
  /// The value in a config, as one would write it in TOML; empty when unset.
  std::function<std::string(const Config&)> show;

  std::string example{};  ///< a value as one would write it, where the default is none; empty: the default
};

template <class T>
struct Range {
  T least;
  T most;
};

/// A member of a Config, wherever it stands: `[](auto& c) -> auto& { return c.launch.ranks; }`.
template <class T>
struct Field {
  std::function<T&(Config&)> in;
  const T& operator()(const Config& config) const { return in(const_cast<Config&>(config)); }
  T& operator()(Config& config) const { return in(config); }
};

// The kinds of keys. Each makes a row out of a field, its default, its range and its help.
Key flag(std::string name, const Field<bool>& field, bool fallback, std::string help);
Key whole_number(std::string name, const Field<int>& field, int fallback, Range<int> range, std::string help);
Key optional_whole_number(std::string name, const Field<std::optional<int>>& field, Range<int> range,
                          std::string help);
Key large_whole_number(std::string name, const Field<std::uint64_t>& field, std::uint64_t fallback,
                       Range<std::int64_t> range, std::string help);
Key real_number(std::string name, const Field<double>& field, double fallback, Range<double> range,
                std::string help);
Key size(std::string name, const Field<std::uint64_t>& field, std::uint64_t fallback,
         Range<std::uint64_t> range, std::string help);
Key duration(std::string name, const Field<std::chrono::nanoseconds>& field,
             std::chrono::nanoseconds fallback, Range<std::chrono::nanoseconds> range, std::string help);
/// `example` is written as in TOML.
Key text_list(std::string name, const Field<std::vector<std::string>>& field, const std::string& example,
              std::string help);
Key whole_number_list(std::string name, const Field<std::vector<int>>& field,
                      const std::vector<int>& fallback, Range<int> range, std::string help);

struct TextHelp {
  std::string sentence;
  std::string example;
};
/// Any text; the default is the empty one.
Key text(std::string name, const Field<std::string>& field, const TextHelp& help);
/// Any text but the empty one, which stands for "unset".
Key optional_text(std::string name, const Field<std::string>& field, const TextHelp& help);

/// A key that takes one of a few words; `words` pairs each with the index stored by `set`.
Key choice(std::string name, std::vector<std::string> words, const std::string& fallback,
           std::function<void(Config&, std::size_t)> set, std::function<std::size_t(const Config&)> get,
           std::string help);
/// The same where the word itself is stored.
Key word(std::string name, const Field<std::string>& field, const std::vector<std::string>& words,
         const std::string& fallback, std::string help);

}  // namespace cohort::config
