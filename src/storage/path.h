#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cohort::storage {

/// What stands before the last '/': `/` for `/a`, `.` for `a`.
std::string directory_of(std::string_view path);
/// What stands after the last '/'.
std::string name_of(std::string_view path);
/// The name in the directory: `a/b`, `/b`.
std::string joined(std::string_view directory, std::string_view name);
/// The names from the root to the path, `.` and `..` resolved by text alone.
std::vector<std::string> components(std::string_view path);

}  // namespace cohort::storage
