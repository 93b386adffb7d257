#pragma once

#include "job.h"

#include <cohort/predict.h>
#include <cstdint>
#include <optional>
#include <string>

namespace cohort::tool {

/// The command line of `cohort evaluate`, besides that of a job: `--set`, `--json` and `--terminal`.
struct EvaluateOrder {
  std::string model{};
  std::string data{};         ///< a job file, if the name ends in .toml, or a file or folder with data
  std::string part = "test";  ///< of the data of a job: test or train
};

/// Prints loss and accuracy of a model on a data set.
///
/// Failure: throws UsageError or Error naming the file.
void evaluate_model(const EvaluateOrder& order, const JobOrder& job);

/// The command line of `cohort predict`. Options that were not given are absent, so that those that do not
/// apply to the model can be refused.
struct PredictOrder {
  std::string model{};
  std::string input{};  ///< a file of samples, or the prompt of a model of text
  std::optional<std::int64_t> index{};
  std::optional<std::int64_t> tokens{};
  std::optional<double> temperature{};
  std::optional<std::int64_t> top_k{};
  std::optional<std::uint64_t> seed{};
  bool json = false;
};

/// Prints the predictions of a model for each sample of a file, or the continuation of a prompt.
///
/// Failure: throws UsageError or Error naming the file.
void predict_with_model(const PredictOrder& order);

}  // namespace cohort::tool
