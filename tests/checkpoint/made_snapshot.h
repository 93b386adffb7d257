#pragma once

#include "checkpoint/saver.h"

#include <functional>
#include <string>
#include <vector>

namespace cohort::test {

/// A tensor that ranks share row by row, or that all of them hold.
struct MadeTensor {
  std::string name{};
  DType dtype = DType::kF32;
  Shape shape{};
  std::vector<std::byte> bytes{};  ///< all elements
  bool is_shared = true;           ///< each rank holds a part of it
};

template <class Number>
std::vector<std::byte> bytes_of_numbers(const std::vector<Number>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

/// Writes one full snapshot as `ranks` ranks.
Status make_snapshot(FileSystem& files, const std::string& folder, int ranks,
                     const std::vector<MadeTensor>& tensors, std::int64_t step = 1);

}  // namespace cohort::test
