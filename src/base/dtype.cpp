#include <cohort/dtype.h>

namespace cohort {
namespace {

struct Row {
  std::string_view name;
  bool floating;
};

// Indexed by the value of the enumerator.
constexpr Row kRows[] = {{"f32", true},  {"f64", true},  {"bf16", true}, {"f16", true}, {"i8", false},
                         {"i16", false}, {"i32", false}, {"i64", false}, {"u8", false}, {"bool", false}};
static_assert(std::size(kRows) == std::size(kAllDTypes));

const Row& row(DType dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view name(DType dtype) {
  return row(dtype).name;
}

std::optional<DType> dtype_named(std::string_view name) {
  for (const DType dtype : kAllDTypes) {
    if (row(dtype).name == name) return dtype;
  }
  return std::nullopt;
}

bool is_floating(DType dtype) {
  return row(dtype).floating;
}

}  // namespace cohort
