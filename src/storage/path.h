#pragma once

#include <string>
#include <string_view>

/// Paths as text, '/'-separated. Nothing here looks at a file system.
namespace cohort::storage {

/// The part before the last '/': `/` for `/a`, `.` for `a`.
inline std::string directory_of(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

/// The part after the last '/'.
inline std::string name_of(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

/// The path of a name in a directory: `a/b`, `/b`.
inline std::string joined(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (path.empty() || path.back() != '/') path += '/';
  path += name;
  return path;
}

}  // namespace cohort::storage
