#pragma once

#include "data/open.h"
#include "layout/test_split.h"

namespace cohort::data {

/// One function per kind of data; open_data() chooses by data.kind.
Result<OpenedData> open_idx(FileSystem& fs, const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_cifar(FileSystem& fs, const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_csv(FileSystem& fs, const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_text(FileSystem& fs, const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_digits(const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_spirals(const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_regression(const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_markov(const DataConfig& config, std::uint64_t seed);

/// The error for a wrong value in section [data].
Error bad_key(std::string_view key, std::string_view what, std::string remedy);

/// How test data is cut from a file. If neither data.split nor data.test_share is set: a random tenth.
Result<TestSplit> split_of(const DataConfig& config, std::uint64_t seed);

/// True if data.split or data.test_share asks for test data from the training file.
bool asks_for_split(const DataConfig& config);

}  // namespace cohort::data
