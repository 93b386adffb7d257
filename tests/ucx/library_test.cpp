#include "ucx/library.h"

#include <gtest/gtest.h>

namespace cohort::ucx {
namespace {

// If UCX is missing, this test says so; the others are skipped.
TEST(Library, IsThere) {
  const auto library = UcxLibrary::load();
  if (!library) GTEST_SKIP() << library.error().text();
  EXPECT_STREQ(library->ucs_status_string(UCS_OK), "Success");
}

TEST(Library, ThatIsMissingIsNamedWithItsPackage) {
  const auto library = UcxLibrary::load("libucp-of-nobody.so.0");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code(), ErrorCode::kUnsupported);
  EXPECT_NE(library.error().text().find("libucp-of-nobody.so.0"), std::string::npos);
  EXPECT_NE(library.error().remedy().find("libucx0"), std::string::npos);
}

TEST(Library, ThatIsAnotherOneIsRefused) {
  const auto library = UcxLibrary::load("libc.so.6");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code(), ErrorCode::kUnsupported);
  EXPECT_NE(library.error().text().find("ucp_get_version"), std::string::npos);
}

}  // namespace
}  // namespace cohort::ucx
