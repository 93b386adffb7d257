#include "train/tensor_exchange.h"

#include "base/result.h"

#include <algorithm>
#include <numeric>

namespace cohort::train {
namespace {

std::size_t sum_of(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace

TensorExchange::TensorExchange(std::vector<int> owners, int slice, int world)
    : owners_(std::move(owners)), slice_(slice), world_(world) {}

void TensorExchange::fit_to(const BucketLayout& layout) {
  own_runs_ = runs_of_rank(layout, slice_, world_);
  incoming_.assign(static_cast<std::size_t>(world_), {});
  for (int slice = 0; slice < world_; ++slice) {
    for (const TensorRun& run : runs_of_rank(layout, slice, world_)) {
      if (owns(run.tensor)) incoming_[static_cast<std::size_t>(slice)].push_back(run);
    }
  }
}

// Ranks of a grid of hosts have slices in another order.
void TensorExchange::learn_slices(Communicator& group) {
  if (!slice_of_rank_.empty()) return;
  std::vector<std::int32_t> slices(static_cast<std::size_t>(world_));
  const std::int32_t mine = slice_;
  value_or_throw(group.run(all_gather(std::span<const std::int32_t>(&mine, 1), std::span(slices))));
  slice_of_rank_.assign(slices.begin(), slices.end());
}

std::vector<std::size_t> TensorExchange::counts_to_owners(std::span<const std::uint8_t> flags) const {
  std::vector<std::size_t> counts;
  for (const int slice : slice_of_rank_) {
    std::size_t& count = counts.emplace_back(0);
    for (const TensorRun& run : own_runs_) {
      if (flags[run.tensor] != 0 && owners_[run.tensor] == slice) count += run.count;
    }
  }
  return counts;
}

std::vector<std::size_t> TensorExchange::counts_of_slices(std::span<const std::uint8_t> flags) const {
  std::vector<std::size_t> counts;
  for (const int slice : slice_of_rank_) {
    std::size_t& count = counts.emplace_back(0);
    for (const TensorRun& run : incoming_[static_cast<std::size_t>(slice)]) {
      if (flags[run.tensor] != 0) count += run.count;
    }
  }
  return counts;
}

void TensorExchange::run(Communicator& group, const Parcel& from, Parcel& to) {
  to.numbers.resize(sum_of(to.counts));
  value_or_throw(group.run(all_to_all(std::span(from.numbers), std::span(to.numbers), from.counts, to.counts))
                     .within("whole tensors were not exchanged"));
}

std::vector<std::vector<float>> TensorExchange::gather(Communicator& group, std::span<float* const> slices,
                                                       std::span<const std::uint8_t> flags) {
  learn_slices(group);
  Parcel from{.counts = counts_to_owners(flags)}, to{.counts = counts_of_slices(flags)};
  for (const int owner : slice_of_rank_) {
    for (const TensorRun& run : own_runs_) {
      if (flags[run.tensor] == 0 || owners_[run.tensor] != owner) continue;
      const float* const first = slices[run.bucket] + run.first;
      from.numbers.insert(from.numbers.end(), first, first + run.count);
    }
  }
  run(group, from, to);
  std::vector<std::vector<float>> tensors(owners_.size());
  const float* next = to.numbers.data();
  for (const int slice : slice_of_rank_) {
    for (const TensorRun& run : incoming_[static_cast<std::size_t>(slice)]) {
      if (flags[run.tensor] == 0) continue;
      std::vector<float>& tensor = tensors[run.tensor];
      tensor.resize(std::max(tensor.size(), run.from + run.count));
      std::copy_n(next, run.count, tensor.data() + run.from);
      next += run.count;
    }
  }
  return tensors;
}

void TensorExchange::scatter(Communicator& group, std::span<const std::vector<float>> tensors,
                             std::span<float* const> slices, std::span<const std::uint8_t> flags) {
  Parcel from{.counts = counts_of_slices(flags)}, to{.counts = counts_to_owners(flags)};
  for (const int slice : slice_of_rank_) {
    for (const TensorRun& run : incoming_[static_cast<std::size_t>(slice)]) {
      if (flags[run.tensor] == 0) continue;
      const float* const first = tensors[run.tensor].data() + run.from;
      from.numbers.insert(from.numbers.end(), first, first + run.count);
    }
  }
  run(group, from, to);
  const float* next = to.numbers.data();
  for (const int owner : slice_of_rank_) {
    for (const TensorRun& run : own_runs_) {
      if (flags[run.tensor] == 0 || owners_[run.tensor] != owner) continue;
      std::copy_n(next, run.count, slices[run.bucket] + run.first);
      next += run.count;
    }
  }
}

}  // namespace cohort::train
