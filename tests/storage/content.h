#pragma once

#include "storage/file_system.h"
#include "storage/whole_file.h"

#include <gtest/gtest.h>
#include <string_view>

namespace cohort {

inline constexpr std::size_t kAwkwardSizes[] = {0, 1, 4095, 4096, 4097};

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// `size_bytes` letters. Neighbours differ, and texts with different first letters differ at every position.
inline std::string letters(std::size_t size_bytes, char first = 'a') {
  std::string text(size_bytes, ' ');
  for (std::size_t i = 0; i < size_bytes; ++i)
    text[i] = static_cast<char>('a' + (static_cast<std::size_t>(first - 'a') + i) % 23);
  return text;
}

/// "" for success, otherwise the name of the error code.
template <class T>
std::string code_name(const Result<T>& result) {
  return result ? "" : std::string(name(result.error().code()));
}

/// The content of a file, or the name of the error code in <>.
inline std::string content_of(FileSystem& fs, const std::string& path) {
  const auto content = read_file(fs, path);
  return content ? *content : "<" + code_name(content) + ">";
}

/// Writes a file. Neither its content nor its name is synced.
inline void put(FileSystem& fs, const std::string& path, std::string_view text) {
  const auto file = fs.create(path);
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_TRUE((*file)->append(bytes_of(text)));
  ASSERT_TRUE((*file)->close());
}

/// Writes a file and syncs its content and its name in `directory`.
inline void put_synced(FileSystem& fs, const std::string& directory, const std::string& name,
                       std::string_view text) {
  const auto file = fs.create(directory + "/" + name);
  ASSERT_TRUE(file) << file.error().text();
  ASSERT_TRUE((*file)->append(bytes_of(text)));
  ASSERT_TRUE((*file)->sync());
  ASSERT_TRUE(fs.sync_directory(directory));
}

}  // namespace cohort
