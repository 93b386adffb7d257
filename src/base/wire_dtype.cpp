#include <cohort/wire_dtype.h>

#include <array>
#include <cstddef>

namespace cohort {
namespace {

constexpr std::array<std::string_view, std::size(kAllWireDTypes)> kWireDTypeNames = {"same", "bf16", "f16"};

}  // namespace

std::string_view name(WireDType wire) {
  return kWireDTypeNames[static_cast<std::size_t>(wire)];
}

std::optional<WireDType> wire_dtype_named(std::string_view name) {
  for (const WireDType wire : kAllWireDTypes) {
    if (cohort::name(wire) == name) return wire;
  }
  return std::nullopt;
}

}  // namespace cohort
