#include "comm/schedule/wire_dtype.h"

namespace cohort::comm {

std::string_view name(WireDType wire) {
  switch (wire) {
    case WireDType::kSame:
      return "same";
    case WireDType::kBFloat16:
      return "bf16";
    case WireDType::kFloat16:
      return "f16";
  }
  return "same";
}

std::optional<WireDType> wire_dtype_named(std::string_view name) {
  for (const WireDType wire : kAllWireDTypes) {
    if (comm::name(wire) == name) return wire;
  }
  return std::nullopt;
}

DType travelling_dtype(WireDType wire, DType kept) {
  switch (wire) {
    case WireDType::kSame:
      return kept;
    case WireDType::kBFloat16:
      return DType::kBF16;
    case WireDType::kFloat16:
      return DType::kF16;
  }
  return kept;
}

}  // namespace cohort::comm
