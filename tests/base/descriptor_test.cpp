#include "base/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <type_traits>

namespace cohort {
namespace {

Descriptor open_null() {
  return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

bool is_in_use(int number) {
  return ::fcntl(number, F_GETFD) != -1;
}

TEST(Descriptor, IsClosedWithItsOwner) {
  int number = -1;
  {
    const Descriptor descriptor = open_null();
    ASSERT_TRUE(descriptor.is_open());
    number = descriptor.number();
    EXPECT_TRUE(is_in_use(number));
  }
  EXPECT_FALSE(is_in_use(number));
}

TEST(Descriptor, MovesAndIsNeverCopied) {
  static_assert(!std::is_copy_constructible_v<Descriptor> && !std::is_copy_assignable_v<Descriptor>);
  Descriptor first = open_null();
  const int number = first.number();
  Descriptor second = std::move(first);
  EXPECT_FALSE(first.is_open());  // NOLINT: a moved-from descriptor is closed
  EXPECT_EQ(second.number(), number);
}

TEST(Descriptor, AssignmentClosesWhatWasHeld) {
  Descriptor first = open_null();
  Descriptor second = open_null();
  const int given_up = first.number();
  const int kept = second.number();
  first = std::move(second);
  EXPECT_FALSE(is_in_use(given_up));
  EXPECT_EQ(first.number(), kept);
  EXPECT_TRUE(is_in_use(kept));
}

TEST(Descriptor, SurvivesBeingAssignedToItself) {
  Descriptor descriptor = open_null();
  Descriptor& same = descriptor;
  descriptor = std::move(same);
  EXPECT_TRUE(is_in_use(descriptor.number()));
}

TEST(Descriptor, ReleaseLeavesItOpen) {
  Descriptor descriptor = open_null();
  const int number = descriptor.release();
  EXPECT_FALSE(descriptor.is_open());
  EXPECT_TRUE(is_in_use(number));
  ::close(number);
}

TEST(Descriptor, CloseReportsWhatWentWrongAndClosesOnce) {
  Descriptor good = open_null();
  EXPECT_EQ(good.close(), std::nullopt);
  EXPECT_EQ(good.close(), std::nullopt);
  Descriptor bad(1 << 20);
  EXPECT_EQ(bad.close(), EBADF);
  EXPECT_FALSE(bad.is_open());
}

}  // namespace
}  // namespace cohort
