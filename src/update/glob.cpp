#include "update/glob.h"

#include <optional>

namespace cohort::update {

bool matches(std::string_view pattern, std::string_view name) {
  // Where to go on if what follows the last star does not fit: the star takes one letter more.
  struct Retry {
    std::size_t pattern;
    std::size_t name;
  };
  std::optional<Retry> retry;
  std::size_t p = 0;
  std::size_t n = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      retry = Retry{++p, n};
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (retry) {
      p = retry->pattern;
      n = ++retry->name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace cohort::update
