#include <cohort/precision.h>

#include <array>

namespace cohort {
namespace {

constexpr std::array<std::string_view, std::size(kAllComputeTypes)> kComputeTypeNames = {"auto", "f32",
                                                                                         "bf16"};

}  // namespace

std::string_view name(ComputeType type) {
  return kComputeTypeNames[static_cast<std::size_t>(type)];
}

std::optional<ComputeType> compute_type_named(std::string_view name) {
  for (const ComputeType type : kAllComputeTypes) {
    if (cohort::name(type) == name) return type;
  }
  return std::nullopt;
}

// Every processor with AMX for bf16 has AVX512_BF16 as well.
bool has_fast_bf16() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0;
  return has;
#else
  return false;
#endif
}

ComputeType resolved(ComputeType type) {
  if (type != ComputeType::kAuto) return type;
  return has_fast_bf16() ? ComputeType::kBF16 : ComputeType::kF32;
}

}  // namespace cohort
