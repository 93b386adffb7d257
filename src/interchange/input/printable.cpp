#include "interchange/input/printable.h"

#include <fmt/format.h>

namespace cohort::interchange {

std::string printable(std::string_view text) {
  constexpr std::size_t kMostShown = 80;
  std::string shown;
  for (const char letter : text.substr(0, kMostShown)) {
    const auto code = static_cast<unsigned char>(letter);
    const bool is_control = code < ' ' || code == 0x7f;
    shown += is_control ? fmt::format("\\x{:02x}", code) : std::string(1, letter);
  }
  return text.size() > kMostShown ? shown + "…" : shown;
}

}  // namespace cohort::interchange
