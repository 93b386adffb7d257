#pragma once

#include <cstdlib>

namespace cohort::test {

/// Whether this is `make soak`, which has time for long runs. The environment says so: COHORT_SOAK=1.
inline bool is_soak() {
  const char* const value = std::getenv("COHORT_SOAK");
  return value != nullptr && *value == '1';
}

/// How much a test does: a short part with fixed seeds in `make test`, all of it in `make soak`.
///
///     for (int i = 0; i < rounds(20'000, 1'000'000); ++i) …
template <class Number>
Number rounds(Number in_test, Number in_soak) {
  return is_soak() ? in_soak : in_test;
}

}  // namespace cohort::test
