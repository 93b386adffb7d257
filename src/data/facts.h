#pragma once

#include <cohort/dtype.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cohort {

/// What a model must know of the data it is made for.
struct DataFacts {
  std::vector<std::int64_t> input_shape{};  ///< of one sample
  DType input_dtype = DType::kF32;
  std::int64_t classes = 0;     ///< 0: the targets are numbers, or tokens
  std::int64_t outputs = 0;     ///< numbers to predict per sample; as many as classes where there are some
  std::int64_t vocabulary = 0;  ///< how many tokens there are; 0: this is no text
  std::int64_t context = 0;     ///< tokens per sample
  std::string description{};    ///< one line for people
};

}  // namespace cohort
