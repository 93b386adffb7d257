#pragma once

#include <cohort/error.h>

#include <tl/expected.hpp>
#include <utility>

namespace cohort {

/// A value or an Error. Every function in a folder without libtorch reports failure this way.
///
///     Result<int> parse(std::string_view text) {
///       if (text.empty()) return Error(ErrorCode::kUsage, "a number is missing");
///       COHORT_ASSIGN_OR_RETURN(const int digits, count(text));
///       return digits;
///     }
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(Error error)
      : tl::expected<T, Error>(tl::unexpect, std::move(error)) {}  // NOLINT: implicit by design

  /// The same result; an error is wrapped in `context`.
  Result within(std::string context, SourceLocation location = SourceLocation::here()) && {
    if (this->has_value()) return std::move(*this);
    return this->error().within(std::move(context), location);
  }
};

/// Success or an Error.
using Status = Result<void>;

/// Returns the value, or throws the error as UsageError, BugError or Error, depending on its code.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace cohort

#define COHORT_CONCAT_INNER(a, b) a##b
#define COHORT_CONCAT(a, b) COHORT_CONCAT_INNER(a, b)

/// Evaluates `expression`, a Result, and returns its error from the enclosing function if there is an error.
#define COHORT_RETURN_IF_ERROR(expression)                   \
  do {                                                       \
    if (auto cohort_status = (expression); !cohort_status) { \
      return std::move(cohort_status).error();               \
    }                                                        \
  } while (false)

/// Initialises `declaration` with the value of `expression`, or returns its error from the enclosing
/// function.
#define COHORT_ASSIGN_OR_RETURN(declaration, expression) \
  COHORT_ASSIGN_OR_RETURN_INNER(COHORT_CONCAT(cohort_result_, __LINE__), declaration, expression)
#define COHORT_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result) return std::move(result).error();                       \
  declaration = std::move(*result)
