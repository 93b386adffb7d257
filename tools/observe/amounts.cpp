#include "observe/amounts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>

namespace cohort::observe {
namespace {

// As many decimals as give three digits.
std::string three_digits(double number) {
  const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", number, decimals);
}

}  // namespace

std::string format_amount(double amount) {
  static constexpr std::array kLetters{"", "k", "M", "G", "T"};
  if (!std::isfinite(amount) || amount < 0) return "-";
  std::size_t letter = 0;
  while (amount >= 999.5 && letter + 1 < kLetters.size()) {
    amount /= 1000;
    ++letter;
  }
  return three_digits(amount) + kLetters[letter];
}

std::string format_time_left(double seconds) {
  constexpr double kMost = 1e9;
  if (!(seconds >= 0)) return "-";
  const auto whole = static_cast<std::int64_t>(std::ceil(std::min(seconds, kMost)));
  const std::int64_t minutes = whole / 60;
  const std::int64_t hours = minutes / 60;
  if (minutes == 0) return fmt::format("{}s", whole);
  if (hours == 0) return fmt::format("{}m{:02}s", minutes, whole % 60);
  if (hours < 24) return fmt::format("{}h{:02}m", hours, minutes % 60);
  return fmt::format("{}d{:02}h", hours / 24, hours % 24);
}

std::string format_number(double number) {
  return fmt::format("{:.5g}", number);
}

std::string format_share(double share) {
  return fmt::format("{:.0f} %", std::clamp(share, 0.0, 1.0) * 100);
}

}  // namespace cohort::observe
