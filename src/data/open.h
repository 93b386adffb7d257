#pragma once

#include <cohort/dataset.h>

#include "config/config.h"
#include "data/facts.h"
#include "storage/file_system.h"

#include <memory>

namespace cohort {

/// Data as a job file describes it, ready to be used.
struct OpenedData {
  std::shared_ptr<const Dataset> train;
  std::shared_ptr<const Dataset> test;  ///< may be null
  DataFacts facts;
  std::vector<std::string> vocabulary;  ///< what tokens, or classes given by text, stand for; may be empty
};

/// Opens files (idx, csv, text) or makes a generator (digits, spirals, regression, markov).
///
/// The test part of files is test_path (for a folder of idx: its t10k files), else the last test_share of the
/// samples; of a generator, test_samples more. samples counts for generators only.
///
/// Failure: kUsage for a setting that cannot be; kCorrupt, naming file and place; else as FileSystem says.
/// Cost: files are held in memory once, as small as they come; generators hold nothing.
Result<OpenedData> open_data(FileSystem& fs, const DataConfig& config, std::uint64_t seed);

}  // namespace cohort
