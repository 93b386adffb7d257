#pragma once

#include "data/open.h"

namespace cohort::data {

/// One function per kind of data; open_data() chooses by data.kind.
Result<OpenedData> open_idx(FileSystem& fs, const DataConfig& config);
Result<OpenedData> open_csv(FileSystem& fs, const DataConfig& config);
Result<OpenedData> open_text(FileSystem& fs, const DataConfig& config);
Result<OpenedData> open_digits(const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_spirals(const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_regression(const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_markov(const DataConfig& config, std::uint64_t seed);

/// The error for a wrong value in section [data].
Error bad_key(std::string_view key, std::string_view what, std::string remedy);

/// The number of samples or tokens, of `count`, that are test data; they are the last ones.
Result<std::int64_t> test_count(const DataConfig& config, std::int64_t count);

}  // namespace cohort::data
