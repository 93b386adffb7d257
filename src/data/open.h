#pragma once

#include <cohort/dataset.h>

#include "config/config.h"
#include "data/facts.h"
#include "data/standardise.h"
#include "storage/file_system.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cohort {

/// How the inputs of samples follow from the numbers or texts of their source.
struct SourceFacts {
  std::vector<std::string> features{};  ///< the names of the columns of a CSV file
  std::string target{};                 ///< the name of the column that is predicted
  std::vector<data::Scale> scales{};    ///< one for all numbers, or one for each column; empty: unchanged
  std::optional<double> white{};        ///< of images: the number of a white pixel; black is 0
  std::string tokens{};                 ///< of text: `byte` or `char`
};

/// Data as a job file describes it, ready to be used.
struct OpenedData {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;  ///< may be null
  DataFacts facts;
  std::vector<std::string>
      vocabulary;  ///< the texts of tokens, or of the classes of a CSV file; may be empty
  SourceFacts source{};
};

/// Opens files (idx, cifar, csv, text) or makes a generator (digits, spirals, regression, markov).
///
/// The test data of files is test_path, or else test_share of the samples by `split` and `seed`: random ones,
/// or the last ones for text, whose samples may overlap. The test files of a folder of images are its test
/// data, unless split or test_share is set. The test data of a generator is test_samples more samples.
/// `samples` applies to generators only.
///
/// Failure: kUsage for an impossible setting; kCorrupt, naming file and line or byte; else as FileSystem.
/// Lifetime: the data sets must not outlive the FileSystem.
/// Cost: images stay in their files, unless these are compressed; other files are held in memory once, in the
/// width of their file format; generators hold no samples.
Result<OpenedData> open_data(FileSystem& fs, const DataConfig& config, std::uint64_t seed);

}  // namespace cohort
