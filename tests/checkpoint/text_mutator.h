#pragma once

#include <array>
#include <random>
#include <string>
#include <string_view>

namespace cohort::test {

/// Changes JSON at random: bytes, numbers, members that are left out, doubled or moved, brackets.
class TextMutator {
 public:
  explicit TextMutator(std::uint64_t seed) : engine_(seed) {}

  std::string operator()(std::string text) {
    for (std::size_t i = 1 + below(3); i > 0 && !text.empty(); --i) mutate(text);
    return text;
  }
  std::size_t below(std::size_t end) { return engine_() % end; }

 private:
  static constexpr std::array<std::string_view, 18> kTokens{"-1",
                                                            "0",
                                                            "1e999",
                                                            "9223372036854775807",
                                                            "18446744073709551615",
                                                            "18446744073709551616",
                                                            "576460752303423488",
                                                            "1048577",
                                                            "0.5",
                                                            "null",
                                                            "true",
                                                            "[]",
                                                            "{}",
                                                            "[[[[",
                                                            "\"\"",
                                                            "\"../x\"",
                                                            ",",
                                                            "\"\\ud800\""};

  void mutate(std::string& text) {
    const std::size_t at = below(text.size()),
                      length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(engine_());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(below(text.size()), text.substr(at, length));
        break;
      case 3:
        text.insert(at, kTokens[below(kTokens.size())]);
        break;
      default:
        replace_number(text, at);
    }
  }

  // The next number of the text becomes another one.
  void replace_number(std::string& text, std::size_t at) {
    constexpr std::string_view kDigits = "0123456789";
    const std::size_t first = text.find_first_of(kDigits, at);
    if (first == std::string::npos) return;
    const std::size_t end = std::min(text.find_first_not_of(kDigits, first), text.size());
    const std::string other = below(2) == 0 ? std::string(kTokens[below(kTokens.size())])
                                            : std::to_string(below(1 + (1U << below(20))));
    text.replace(first, end - first, other);
  }

  std::mt19937_64 engine_;
};

}  // namespace cohort::test
