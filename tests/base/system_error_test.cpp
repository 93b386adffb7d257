#include "base/system_error.h"

#include <gtest/gtest.h>

namespace cohort {
namespace {

TEST(SystemError, EveryNumberHasItsCode) {
  EXPECT_EQ(code_of(ENOENT), ErrorCode::kNotFound);
  for (const int number : {EACCES, EPERM}) EXPECT_EQ(code_of(number), ErrorCode::kPermission);
  for (const int number : {ENOSPC, EDQUOT}) EXPECT_EQ(code_of(number), ErrorCode::kDiskFull);
  for (const int number : {EMFILE, ENFILE, ENOMEM}) EXPECT_EQ(code_of(number), ErrorCode::kExhausted);
  EXPECT_EQ(code_of(EEXIST), ErrorCode::kAlreadyExists);
  for (const int number : {EIO, EISDIR, ENOTDIR, ENOTEMPTY, EROFS, EINVAL, 9999})
    EXPECT_EQ(code_of(number), ErrorCode::kIo);
}

TEST(SystemError, IsAClauseInLowerCase) {
  EXPECT_EQ(system_error("cannot open 'a'", ENOENT).text(), "cannot open 'a': no such file or directory");
  EXPECT_EQ(system_error("cannot read 'a'", EIO).text(), "cannot read 'a': input/output error");
}

TEST(SystemError, AdvisesWhereThereIsAdvice) {
  for (const int number : {ENOSPC, EDQUOT, EACCES, EPERM, EROFS, EMFILE})
    EXPECT_EQ(system_error("cannot write", number).remedy().back(), '.') << number;
  EXPECT_EQ(system_error("cannot read", EIO).remedy(), "");
}

TEST(SystemError, InterruptedCallsAreMadeAgain) {
  int calls = 0;
  const int result = uninterrupted([&] {
    errno = EINTR;
    return ++calls < 4 ? -1 : 7;
  });
  EXPECT_EQ(result, 7);
  EXPECT_EQ(calls, 4);
  calls = 0;
  const int failure = uninterrupted([&] {
    errno = EIO;
    ++calls;
    return -1;
  });
  EXPECT_EQ(failure, -1);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace cohort
