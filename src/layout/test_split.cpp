#include "layout/test_split.h"

#include "base/check.h"
#include "layout/sample_order.h"
#include <cohort/random.h>

#include <map>
#include <numeric>

namespace cohort {
namespace {

using Samples = std::vector<std::size_t>;

constexpr std::uint64_t kSplitStream = 0x7465737473706C74;  // separates this use of the seed from other uses

std::size_t share_of(std::size_t count, double share) {
  return static_cast<std::size_t>(share * static_cast<double>(count));
}

// Marks `wanted` of these samples. `draw` numbers the draws of one split.
void mark_random(const Samples& samples, std::size_t wanted, const TestSplit& split, std::uint64_t draw,
                 std::vector<bool>& is_test) {
  const SampleOrder order(samples.size(), Shuffle::kEveryEpoch,
                          RandomStream(split.seed, kSplitStream).bits(draw));
  for (std::size_t i = 0; i < wanted; ++i) is_test[samples[order.at(0, i)]] = true;
}

struct Stratum {
  Samples samples{};
  std::size_t wanted = 0;
  double remainder = 0;
};

std::vector<Stratum> strata_of(std::span<const std::int64_t> classes) {
  std::map<std::int64_t, Stratum> by_class;
  for (std::size_t i = 0; i < classes.size(); ++i) by_class[classes[i]].samples.push_back(i);
  std::vector<Stratum> strata;
  for (auto& [number, stratum] : by_class) strata.push_back(std::move(stratum));
  return strata;
}

// Rounds the share of each class down, then gives what is left of `total` to the largest remainders.
void set_wanted(std::vector<Stratum>& strata, double share, std::size_t total) {
  std::vector<Stratum*> by_remainder;
  std::size_t given = 0;
  for (Stratum& stratum : strata) {
    stratum.wanted = share_of(stratum.samples.size(), share);
    stratum.remainder =
        share * static_cast<double>(stratum.samples.size()) - static_cast<double>(stratum.wanted);
    given += stratum.wanted;
    by_remainder.push_back(&stratum);
  }
  std::stable_sort(by_remainder.begin(), by_remainder.end(),
                   [](const Stratum* a, const Stratum* b) { return a->remainder > b->remainder; });
  for (std::size_t i = 0; given < total && i < by_remainder.size(); ++i, ++given) ++by_remainder[i]->wanted;
}

}  // namespace

std::vector<bool> choose_test_samples(const TestSplit& split, std::size_t count,
                                      std::span<const std::int64_t> classes) {
  COHORT_CHECK(split.share >= 0 && split.share < 1);
  std::vector<bool> is_test(count, false);
  const std::size_t total = share_of(count, split.share);
  if (split.kind == SplitKind::kEnd) {
    std::fill(is_test.end() - static_cast<std::ptrdiff_t>(total), is_test.end(), true);
  } else if (split.kind == SplitKind::kRandom) {
    Samples all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    mark_random(all, total, split, 0, is_test);
  } else {
    COHORT_CHECK_EQ(classes.size(), count);
    std::vector<Stratum> strata = strata_of(classes);
    set_wanted(strata, split.share, total);
    for (std::size_t i = 0; i < strata.size(); ++i) {
      mark_random(strata[i].samples, strata[i].wanted, split, i + 1, is_test);
    }
  }
  return is_test;
}

}  // namespace cohort
