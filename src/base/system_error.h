#pragma once

#include <cohort/error.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace cohort {

/// The ErrorCode for an errno.
ErrorCode code_of(int error_number);

/// An Error such as `cannot open '/a/b' for reading: no such file or directory`, with a remedy for the common
/// error numbers. `action` is the part before the colon.
Error system_error(std::string_view action, int error_number,
                   SourceLocation location = SourceLocation::here());

/// Repeats a system call while it fails with EINTR.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace cohort
