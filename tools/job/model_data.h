#pragma once

#include "data/open.h"
#include "storage/file_system.h"
#include <cohort/dataset.h>
#include <cohort/model_facts.h>
#include <cohort/model_file.h>

#include <ATen/core/Tensor.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Data for a trained model: `cohort evaluate` and `cohort predict`.

namespace cohort::job {

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

/// Samples of `data`, one of the data sets of `opened`, as the model takes them: columns, classes and tokens
/// are found by name, and numbers have the mean and deviation of the model's training data. `where` is the
/// name of the data in errors.
///
/// A data set that was opened as for the training comes back as it is, to the last bit.
///
/// Lifetime: the view shares the ownership of its data.
/// Failure: kUsage if the data does not fit the model: text or numbers, shape, missing columns, classes or
/// characters that the model does not know.
Result<std::shared_ptr<const Dataset>> fitted(std::shared_ptr<const Dataset> data, const OpenedData& opened,
                                              const ModelFacts& facts, const std::string& where);

/// The loss and accuracy of a model on a data set.
struct DataScore {
  std::int64_t samples = 0;
  double loss = 0;                   ///< mean, as training computes it
  std::optional<double> accuracy{};  ///< if there are classes or tokens
};

/// Evaluates on this process alone.
///
/// Failure: throws UsageError if the loss of the facts is unknown, or targets and outputs do not fit.
DataScore evaluate_on(const LoadedModel& model, const Dataset& data);

}  // namespace cohort::job
