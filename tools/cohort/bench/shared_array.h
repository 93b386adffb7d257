#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <utility>

namespace cohort::tool {

/// Floats in a file, which several processes map: none of them has the better pages.
///
/// Lifetime: the file stays when the object goes.
class SharedArray {
 public:
  /// Makes the file with every number equal to `value`, or opens it if it exists.
  /// Failure: the system's reason, such as a file system that is full.
  static Result<SharedArray> open(const std::string& path, std::size_t count, float value);
  ~SharedArray();
  SharedArray(SharedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  SharedArray& operator=(SharedArray&&) = delete;

  float* data() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  SharedArray(float* data, std::size_t count) : data_(data), count_(count) {}

  float* data_;
  std::size_t count_;
};

}  // namespace cohort::tool
