#pragma once

#include <cohort/error.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace cohort {

/// The kind of failure an error number of the operating system stands for.
ErrorCode code_of(int error_number);

/// `cannot open '/a/b' for reading: no such file or directory`, with advice where there is some. `action` is
/// the part before the colon.
Error system_error(std::string_view action, int error_number, SourcePlace place = SourcePlace::here());

/// Makes a call of the operating system again for as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

}  // namespace cohort
