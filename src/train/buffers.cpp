#include "train/buffers.h"

#include "train/abort.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace cohort::train {
namespace {

std::size_t total(const std::vector<NamedTensor>& tensors) {
  std::size_t count = 0;
  for (const NamedTensor& named : tensors) count += static_cast<std::size_t>(named.tensor.numel());
  return count;
}

template <class Each>
void for_each_tensor(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b, const Each& each) {
  std::size_t first = 0;
  for (const auto* tensors : {&a, &b}) {
    for (const NamedTensor& named : *tensors) {
      each(named, first);
      first += static_cast<std::size_t>(named.tensor.numel());
    }
  }
}

}  // namespace

Buffers::Buffers(Communicator& group, const ModuleTensors& tensors)
    : group_(group),
      means_(tensors.buffers),
      counters_(tensors.counters),
      num_means_(total(means_)),
      num_numbers_(num_means_ + total(counters_)) {}

std::vector<double> Buffers::read() const {
  std::vector<double> numbers(num_numbers_);
  for_each_tensor(means_, counters_, [&](const NamedTensor& named, std::size_t first) {
    const at::Tensor& tensor = named.tensor;
    at::from_blob(numbers.data() + first, tensor.sizes(), at::kDouble).copy_(tensor);
  });
  return numbers;
}

void Buffers::write(const std::vector<double>& numbers) {
  const at::NoGradGuard no_grad;
  for_each_tensor(means_, counters_, [&](const NamedTensor& named, std::size_t first) {
    const at::Tensor& tensor = named.tensor;
    tensor.copy_(at::from_blob(const_cast<double*>(numbers.data()) + first, tensor.sizes(), at::kDouble));
  });
}

void Buffers::open() {
  if (num_numbers_ == 0) return;
  start_ = read();
  slots_.clear();
  is_touched_ = false;
}

void Buffers::open_slot() {
  if (is_touched_) write(start_);
  is_touched_ = num_numbers_ > 0;
}

void Buffers::slot_done(double weight) {
  if (num_numbers_ == 0) return;
  slots_.push_back(weight);
  const std::vector<double> numbers = read();
  slots_.insert(slots_.end(), numbers.begin(), numbers.end());
}

void Buffers::merge() {
  if (num_numbers_ == 0) return;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(group_.size()));
  const std::array<std::int64_t, 1> mine{static_cast<std::int64_t>(slots_.size())};
  value_or_throw(group_.run(all_gather(std::span<const std::int64_t>(mine), std::span(sizes))));
  const std::vector<std::size_t> counts(sizes.begin(), sizes.end());
  std::size_t count = 0;
  for (const std::size_t each : counts) count += each;
  std::vector<double> all(count);
  value_or_throw(group_.run(all_gather(std::span<const double>(slots_), std::span(all), counts)));

  std::vector<double> merged = start_;
  std::fill_n(merged.begin(), num_means_, 0.0);
  double weight = 0;
  for (std::size_t slot = 0; slot < count; slot += 1 + num_numbers_) {
    weight += all[slot];
    const double* numbers = all.data() + slot + 1;
    for (std::size_t i = 0; i < num_means_; ++i) merged[i] += all[slot] * numbers[i];
    for (std::size_t i = num_means_; i < num_numbers_; ++i) merged[i] = std::max(merged[i], numbers[i]);
  }
  if (weight == 0) return;
  std::vector<bool> is_constant(num_means_, true);
  for (std::size_t slot = 0; slot < count; slot += 1 + num_numbers_) {
    for (std::size_t i = 0; i < num_means_; ++i) {
      const double number = all[slot + 1 + i];
      if (number != start_[i] && !(std::isnan(number) && std::isnan(start_[i]))) is_constant[i] = false;
    }
  }
  for (std::size_t i = 0; i < num_means_; ++i) merged[i] = is_constant[i] ? start_[i] : merged[i] / weight;
  check_finite(merged, is_constant);
  write(merged);
}

void Buffers::check_finite(const std::vector<double>& numbers, const std::vector<bool>& is_constant) const {
  for_each_tensor(means_, {}, [&](const NamedTensor& named, std::size_t first) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(named.tensor.numel()); ++i) {
      if (is_constant[first + i] || std::isfinite(numbers[first + i])) continue;
      const Error what =
          Error(ErrorCode::kUsage, fmt::format("'{}' of the model became {}", named.name, numbers[first + i]))
              .with_remedy(
                  "Normalisation over a batch needs several values of each channel: give each micro-batch "
                  "more "
                  "samples (TrainerOptions::batch_size, TrainerOptions::micro_batches) or larger images.");
      raise(group_.rank() == 0 ? what : failure_of(group_.global_rank(0), what));  // all ranks see the same
    }
  });
}

void Buffers::drop() {
  if (num_numbers_ != 0) write(start_);
}

}  // namespace cohort::train
