#pragma once

#include <cohort/error.h>

#include <tl/expected.hpp>
#include <utility>

namespace cohort {

/// A value, or the Error that prevented it. The way every function below the torch line reports failure.
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

  /// This result, its error (if any) wrapped in one more context.
  Result within(std::string context, SourcePlace place = SourcePlace::here()) && {
    if (this->has_value()) return std::move(*this);
    return this->error().within(std::move(context), place);
  }
};

/// Success, or the Error.
using Status = Result<void>;

/// The one bridge to the throwing side: returns the value, or throws the error as the class its code stands
/// for.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace cohort

#define COHORT_CONCAT_INNER(a, b) a##b
#define COHORT_CONCAT(a, b) COHORT_CONCAT_INNER(a, b)

/// Returns the error of `expression` from this function, if it has one.
#define COHORT_RETURN_IF_ERROR(expression)                   \
  do {                                                       \
    if (auto cohort_status = (expression); !cohort_status) { \
      return std::move(cohort_status).error();               \
    }                                                        \
  } while (false)

/// Puts the value of `expression` into `declaration`, or returns its error from this function.
#define COHORT_ASSIGN_OR_RETURN(declaration, expression) \
  COHORT_ASSIGN_OR_RETURN_INNER(COHORT_CONCAT(cohort_result_, __LINE__), declaration, expression)
#define COHORT_ASSIGN_OR_RETURN_INNER(result, declaration, expression) \
  auto result = (expression);                                          \
  if (!result) return std::move(result).error();                       \
  declaration = std::move(*result)
