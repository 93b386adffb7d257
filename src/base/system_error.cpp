#include "base/system_error.h"

#include <cctype>
#include <fmt/format.h>
#include <system_error>

namespace cohort {
namespace {

bool is_letter_case(int (*test)(int), char letter) {
  return test(static_cast<unsigned char>(letter)) != 0;
}

// The text of the C library in lower case; an abbreviation at its beginning keeps its capitals.
std::string words_of(int error_number) {
  std::string words = std::generic_category().message(error_number);
  if (words.size() > 1 && is_letter_case(std::isupper, words[0]) && !is_letter_case(std::isupper, words[1])) {
    words[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[0])));
  }
  return words;
}

std::string_view remedy_of(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "Free some space there, or choose a directory on another disk.";
    case EDQUOT:
      return "Free some space there, or ask for a larger quota.";
    case EACCES:
    case EPERM:
      return "Check the owner and the permissions (ls -l).";
    case EROFS:
      return "The file system is mounted read-only: choose another directory.";
    case ESPIPE:
      return "The path is a pipe: name a regular file.";
    case EMFILE:
      return "Raise the limit on open files (ulimit -n).";
    default:
      return "";
  }
}

}  // namespace

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ESRCH:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
      return ErrorCode::kPermission;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kDiskFull;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case EAGAIN:
      return ErrorCode::kExhausted;
    case EEXIST:
      return ErrorCode::kAlreadyExists;
    case ENOSYS:
    case ENOEXEC:
      return ErrorCode::kUnsupported;
    default:
      return ErrorCode::kIo;
  }
}

Error system_error(std::string_view action, int error_number, SourceLocation location) {
  const Error error(code_of(error_number), fmt::format("{}: {}", action, words_of(error_number)), location);
  const std::string_view remedy = remedy_of(error_number);
  return remedy.empty() ? error : error.with_remedy(std::string(remedy));
}

}  // namespace cohort
