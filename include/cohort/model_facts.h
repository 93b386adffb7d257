#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cohort {

/// Everything a model file has besides tensors: the data that its users need to build the model, to prepare
/// inputs and to understand outputs. `cohort train` fills in all of it; for a module of your own, fill in the
/// members that you need. docs/models.md has the format.
struct ModelFacts {
  std::string kind{};  ///< model.kind of a job file, or a name of your own
  /// Further settings of the model; for a model of a job file, those of its section [model]: `hidden` →
  /// `[128,64]`, `activation` → `relu`.
  std::map<std::string, std::string> settings{};

  std::vector<std::int64_t> input_shape{};  ///< of one sample
  std::vector<std::string> features{};      ///< the columns of a CSV file, in the order of the input
  /// The model takes (raw − mean) / deviation of the numbers in the data: one mean for all of them, or one
  /// for each element of the first dimension of a sample (columns, channels). Empty: the raw numbers.
  std::vector<double> mean{};
  std::vector<double> deviation{};        ///< as many as `mean`
  std::optional<double> white{};          ///< of images: the raw number of a white pixel; black is 0
  std::int64_t context = 0;               ///< of text: the most tokens of a sample
  std::string tokens{};                   ///< of text: `byte` or `char`
  std::vector<std::string> vocabulary{};  ///< of text: the text of each token

  std::string target{};  ///< the column of a CSV file that the model predicts
  std::vector<std::string>
      classes{};             ///< the name of each class; empty: the model predicts numbers or tokens
  std::int64_t outputs = 0;  ///< predicted numbers of a sample, if there are no classes
  std::string loss{};        ///< `squared_error`, `cross_entropy`, `binary_cross_entropy`

  std::map<std::string, std::string> others{};  ///< further texts of the file: `step`, `epoch`, your own
};

}  // namespace cohort
