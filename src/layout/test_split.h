#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace cohort {

/// Which samples of a file are test data.
enum class SplitKind {
  kEnd,         ///< the last ones
  kRandom,      ///< random ones
  kStratified,  ///< random ones; each class has the same share of training and test data, up to one sample
};

struct TestSplit {
  SplitKind kind = SplitKind::kRandom;
  double share = 0;  ///< of the samples; at least 0 and below 1
  std::uint64_t seed = 0;
};

/// True for each sample that is test data: share · count of them, rounded down. A pure function of its
/// arguments, so that all ranks make the same choice. `classes` has the class of each sample; only
/// kStratified reads them.
std::vector<bool> choose_test_samples(const TestSplit& split, std::size_t count,
                                      std::span<const std::int64_t> classes);

/// Moves the rows of test samples behind the others; both keep their order. `rows` is a string or vector of
/// `row_size` elements for each sample.
///
/// Cost: a copy of the test samples.
template <class Rows>
void move_to_end(Rows& rows, std::size_t row_size, const std::vector<bool>& is_test) {
  Rows tested;
  auto kept = rows.begin();
  for (std::size_t sample = 0; sample < is_test.size(); ++sample) {
    const auto row = rows.begin() + static_cast<std::ptrdiff_t>(sample * row_size);
    const auto end = row + static_cast<std::ptrdiff_t>(row_size);
    if (is_test[sample]) {
      tested.insert(tested.end(), row, end);
    } else {
      kept = kept == row ? end : std::copy(row, end, kept);
    }
  }
  std::copy(tested.begin(), tested.end(), kept);
}

}  // namespace cohort
