#pragma once

#include <cohort/dtype.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cohort {

/// The properties of a data set that a model is built for.
struct DataFacts {
  std::vector<std::int64_t> input_shape{};  ///< shape of one sample
  DType input_dtype = DType::kF32;
  std::int64_t classes = 0;     ///< 0: the targets are numbers or tokens
  std::int64_t outputs = 0;     ///< numbers to predict per sample; equals `classes` for classification
  std::int64_t vocabulary = 0;  ///< number of different tokens; 0: the data is not text
  std::int64_t context = 0;     ///< tokens per sample
  std::string description{};    ///< one line for people
};

}  // namespace cohort
