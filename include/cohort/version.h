#pragma once

#include <cohort/export.h>

#include <string_view>

namespace cohort {

/// The version of this library, such as `0.1.0`.
COHORT_EXPORT std::string_view version();
/// The version of libtorch that this library was built against, such as `2.13.0`.
COHORT_EXPORT std::string_view built_against_libtorch();
/// The compiler that this library was built with, such as `Clang 14.0.6`.
COHORT_EXPORT std::string_view built_with_compiler();

}  // namespace cohort
