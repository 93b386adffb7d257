#pragma once

#include <cohort/dtype.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cohort {

/// What a model must know of the data it is made for.
struct DataFacts {
  std::vector<std::int64_t> input_shape{};
  DType input_dtype = DType::kF32;
  std::int64_t classes = 0;  ///< 0: regression
  std::int64_t outputs = 0;
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;
  std::string description{};
};

}  // namespace cohort
