#include <cohort/dtype.h>

namespace cohort {
namespace {

struct Row {
  std::string_view name;
  std::size_t size_bytes;
  bool floating;
};

// In the order of the enumerators.
constexpr Row kRows[] = {{"f32", 4, true}, {"f64", 8, true},  {"bf16", 2, true}, {"f16", 2, true},
                         {"i8", 1, false}, {"i16", 2, false}, {"i32", 4, false}, {"i64", 8, false},
                         {"u8", 1, false}, {"bool", 1, false}};
static_assert(std::size(kRows) == std::size(kAllDTypes));

const Row& row(DType dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::size_t size_bytes(DType dtype) {
  return row(dtype).size_bytes;
}

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
