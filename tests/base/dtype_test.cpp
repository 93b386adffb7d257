#include <cohort/dtype.h>
#include <gtest/gtest.h>
#include <string>

namespace cohort {
namespace {

TEST(DType, NamesAreReadBack) {
  for (const DType dtype : kAllDTypes) EXPECT_EQ(dtype_named(name(dtype)), dtype) << name(dtype);
  EXPECT_EQ(dtype_named("f31"), std::nullopt);
}

TEST(DType, SizesFollowFromTheNames) {
  for (const DType dtype : kAllDTypes) {
    const bool numbered = dtype != DType::kBool;
    const std::size_t bits =
        numbered ? std::stoul(std::string(name(dtype).substr(name(dtype).find_first_of("0123456789")))) : 8;
    EXPECT_EQ(size_bytes(dtype) * 8, bits) << name(dtype);
  }
}

TEST(DType, KnowsWhatFloats) {
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(is_floating(dtype), name(dtype).find('f') != std::string_view::npos) << name(dtype);
  }
}

}  // namespace
}  // namespace cohort
