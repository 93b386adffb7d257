#pragma once

#include "state/safetensors.h"

#include <string_view>

namespace cohort {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline void put(FileSystem& fs, const std::string& path, std::string_view content) {
  const auto file = value_or_throw(fs.create(path));
  value_or_throw(file->append(bytes_of(content)));
}

/// A file with this header, of its true length, and these data.
inline std::string framed(const std::string& header, const std::string& data = "") {
  std::string frame(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) frame[i] = static_cast<char>(header.size() >> (8 * i));
  return frame + header + data;
}

/// The code of the failure and its text, or nothing.
template <class T>
std::string failure(const Result<T>& result) {
  return result ? "" : std::string(name(result.error().code())) + ": " + result.error().text();
}

}  // namespace cohort
