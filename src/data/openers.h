#pragma once

#include "data/open.h"

namespace cohort::data {

/// One function per kind of data; open_data() picks.
Result<OpenedData> open_idx(FileSystem& fs, const DataConfig& config);
Result<OpenedData> open_csv(FileSystem& fs, const DataConfig& config);
Result<OpenedData> open_text(FileSystem& fs, const DataConfig& config);
Result<OpenedData> open_digits(const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_spirals(const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_regression(const DataConfig& config, std::uint64_t seed);
Result<OpenedData> open_markov(const DataConfig& config, std::uint64_t seed);

/// A mistake in a value of [data].
Error bad_key(std::string_view key, std::string_view what, std::string remedy);

/// How many of `count` things at the end are kept for tests.
Result<std::int64_t> test_count(const DataConfig& config, std::int64_t count);

}  // namespace cohort::data
