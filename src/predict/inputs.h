#pragma once

#include "base/result.h"
#include "storage/file_system.h"
#include <cohort/model_facts.h>

#include <ATen/core/Tensor.h>
#include <string>
#include <vector>

namespace cohort::predict {

/// Samples to predict, from a file.
struct Inputs {
  at::Tensor raw;                                 ///< samples × the input shape of the model
  std::vector<std::string> header{};              ///< names of the columns below; may be empty
  std::vector<std::vector<std::string>> cells{};  ///< of each sample, to be printed before the prediction
};

/// Reads a CSV file, an IDX file or an image (PGM, PPM), told apart by their first bytes; may be gzipped.
///
/// Columns of CSV files are found by name if the file has a header. An image is scaled to the brightness of
/// the training data, not in size.
///
/// Failure: kUsage if the samples do not fit the model; kCorrupt, naming the file, if it is damaged; else as
/// FileSystem.
Result<Inputs> read_inputs(FileSystem& files, const std::string& path, const ModelFacts& facts);

}  // namespace cohort::predict
