#pragma once

#include "base/result.h"

#include <utility>

namespace cohort::machine {

/// Something about this machine, or why it could not be found out. A survey goes on after a failed reading.
template <class T>
class Fact : public Result<T> {
 public:
  Fact() : Result<T>(Error(ErrorCode::kNotFound, "nobody looked")) {}
  Fact(T value) : Result<T>(std::move(value)) {}            // NOLINT: implicit by design
  Fact(Error reason) : Result<T>(std::move(reason)) {}      // NOLINT: implicit by design
  Fact(Result<T> result) : Result<T>(std::move(result)) {}  // NOLINT: implicit by design
};

/// The value of a fact that says only that something works.
struct Works {};

}  // namespace cohort::machine
