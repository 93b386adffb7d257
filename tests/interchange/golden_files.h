#pragma once

#include "interchange/torch_file.h"
#include "storage/memory_file_system.h"

#include <string>
#include <string_view>

namespace cohort::test {

/// The content of a file in tests/interchange/golden, which make_golden.py wrote.
std::string golden_file(const std::string& name);

inline void put_file(FileSystem& fs, const std::string& path, std::string_view content) {
  const auto file = value_or_throw(fs.create(path));
  value_or_throw(file->append(std::as_bytes(std::span(content))));
}

/// A directory `dcp` with the golden files of a checkpoint.
void put_golden_dcp(FileSystem& fs);

/// A torch file with this content, in memory.
class OpenedFile {
 public:
  explicit OpenedFile(std::string_view content) {
    put_file(fs_, "x.pt", content);
    file_ = std::make_unique<Result<interchange::TorchFile>>(interchange::open_torch_file(fs_, "x.pt"));
  }

  /// The code of the failure and its text, or nothing.
  std::string failure() const {
    return *file_ ? "" : std::string(name(file_->error().code())) + ": " + file_->error().text();
  }
  const interchange::TorchFile& file() const { return file_->value(); }
  /// The value under a path of keys.
  const interchange::Value& at(std::initializer_list<const char*> keys) const {
    const interchange::Value* value = &file().root();
    for (const char* const key : keys) value = value->as<interchange::Dict>()->find(key);
    return *value;
  }
  /// The bytes of a tensor.
  std::string bytes_of(const interchange::StoredTensor& tensor) const {
    std::string bytes(interchange::num_elements_of(tensor) * size_bytes(tensor.dtype), ' ');
    value_or_throw(file().read(tensor, 0, std::as_writable_bytes(std::span(bytes))));
    return bytes;
  }
  template <class Number>
  std::vector<Number> numbers_of(const interchange::StoredTensor& tensor) const {
    const std::string bytes = bytes_of(tensor);
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }

 private:
  MemoryFileSystem fs_;
  std::unique_ptr<Result<interchange::TorchFile>> file_;
};

}  // namespace cohort::test
