#pragma once

#include <cohort/error.h>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <string>
#include <type_traits>

/// Assertions that stay on in release builds. A failed check throws BugError and shows both operands. Checks
/// are for bugs of Cohort only: a mistake of the user is an Error with code kUsage.
///
///     COHORT_CHECK(queue.empty());
///     COHORT_CHECK_EQ(parts.size(), world, "after split of {}", group);

// Folders without libtorch use the fmt of the distribution, folders with libtorch the fmt that libtorch
// brings. The inline namespace keeps templates that were instantiated with different versions of fmt apart.
#define COHORT_CONCAT_FMT_INNER(version) with_fmt_##version
#define COHORT_CONCAT_FMT(version) COHORT_CONCAT_FMT_INNER(version)
#define COHORT_FMT_NAMESPACE COHORT_CONCAT_FMT(FMT_VERSION)

namespace cohort::base {
inline namespace COHORT_FMT_NAMESPACE {

template <class T>
std::string shown(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return fmt::format("{}", static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_pointer_v<T> && !std::is_convertible_v<T, const char*>) {
    return fmt::format("{}", static_cast<const void*>(value));
  } else if constexpr (fmt::is_formattable<T>::value) {
    return fmt::format("{}", value);
  } else {
    return "<value>";
  }
}

inline std::string check_details() {
  return {};
}
template <class... Args>
std::string check_details(fmt::format_string<Args...> format, Args&&... args) {
  return "; " + fmt::format(format, std::forward<Args>(args)...);
}

}  // namespace COHORT_FMT_NAMESPACE

/// Throws the BugError of a failed check.
[[noreturn]] void check_failed(const char* condition, const std::string& values, const std::string& details,
                               SourceLocation location);

}  // namespace cohort::base

#define COHORT_CHECK(condition, ...)                                                           \
  do {                                                                                         \
    if (!(condition)) [[unlikely]] {                                                           \
      ::cohort::base::check_failed(#condition, "", ::cohort::base::check_details(__VA_ARGS__), \
                                   ::cohort::SourceLocation::here());                          \
    }                                                                                          \
  } while (false)

#define COHORT_CHECK_COMPARE(operation, a, b, ...)                                                      \
  do {                                                                                                  \
    const auto& cohort_a = (a);                                                                         \
    const auto& cohort_b = (b);                                                                         \
    if (!(cohort_a operation cohort_b)) [[unlikely]] {                                                  \
      ::cohort::base::check_failed(                                                                     \
          #a " " #operation " " #b,                                                                     \
          " (" + ::cohort::base::shown(cohort_a) + " against " + ::cohort::base::shown(cohort_b) + ")", \
          ::cohort::base::check_details(__VA_ARGS__), ::cohort::SourceLocation::here());                \
    }                                                                                                   \
  } while (false)

#define COHORT_CHECK_EQ(a, b, ...) COHORT_CHECK_COMPARE(==, a, b __VA_OPT__(, ) __VA_ARGS__)
#define COHORT_CHECK_NE(a, b, ...) COHORT_CHECK_COMPARE(!=, a, b __VA_OPT__(, ) __VA_ARGS__)
#define COHORT_CHECK_LT(a, b, ...) COHORT_CHECK_COMPARE(<, a, b __VA_OPT__(, ) __VA_ARGS__)
#define COHORT_CHECK_LE(a, b, ...) COHORT_CHECK_COMPARE(<=, a, b __VA_OPT__(, ) __VA_ARGS__)
#define COHORT_CHECK_GT(a, b, ...) COHORT_CHECK_COMPARE(>, a, b __VA_OPT__(, ) __VA_ARGS__)
#define COHORT_CHECK_GE(a, b, ...) COHORT_CHECK_COMPARE(>=, a, b __VA_OPT__(, ) __VA_ARGS__)
