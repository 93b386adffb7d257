#pragma once

#include <cohort/dtype.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort::comm {

/// What numbers that are combined travel as between hosts: as they are, or rounded to 16 bits. Sums are made
/// in f32 either way. f16 has no numbers beyond 65504: a partial sum that is greater arrives as infinite.
enum class WireDType : std::uint8_t { kSame, kBFloat16, kFloat16 };

inline constexpr WireDType kAllWireDTypes[] = {WireDType::kSame, WireDType::kBFloat16, WireDType::kFloat16};

/// `same`, `bf16`, `f16`.
std::string_view name(WireDType wire);
/// The inverse of name(), or nothing.
std::optional<WireDType> wire_dtype_named(std::string_view name);

/// What numbers kept in `kept` travel as.
DType travelling_dtype(WireDType wire, DType kept);

}  // namespace cohort::comm
