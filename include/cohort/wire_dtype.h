#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort {

/// The type in which elements of reductions travel between hosts: unchanged, or rounded to 16 bits. Sums are
/// computed in f32 either way. f16 ends at 65504: a greater partial sum arrives as infinity.
enum class WireDType : std::uint8_t { kSame, kBFloat16, kFloat16 };

inline constexpr WireDType kAllWireDTypes[] = {WireDType::kSame, WireDType::kBFloat16, WireDType::kFloat16};

/// `same`, `bf16`, `f16`, as in job files.
COHORT_EXPORT std::string_view name(WireDType wire);
/// The type with this name; empty for an unknown name.
COHORT_EXPORT std::optional<WireDType> wire_dtype_named(std::string_view name);

}  // namespace cohort
