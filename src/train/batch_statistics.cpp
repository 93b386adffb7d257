#include "train/batch_statistics.h"

#include "base/exact_sum.h"
#include "nn/statistics_exchange.h"
#include "train/evaluation_mode.h"

#include <ATen/ATen.h>
#include <algorithm>

namespace cohort::train {

namespace {

/// Layers normalise by themselves while it lives.
class Alone {
 public:
  Alone(Communicator& group, const std::vector<std::unique_ptr<NormLayer>>& layers)
      : single_(value_or_throw(group.split(group.rank(), 0, "batch statistics"))), layers_(layers) {
    const auto alone = nn::StatisticsExchange::make(*single_, nn::ConnectedBy::kUser);
    for (const auto& layer : layers_) layer->begin(alone);
  }
  ~Alone() {
    for (const auto& layer : layers_) layer->end();
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

 private:
  const std::unique_ptr<Communicator> single_;
  const std::vector<std::unique_ptr<NormLayer>>& layers_;
};

// The first sample of each batch, and the end of the last one.
std::vector<std::int64_t> batch_firsts(std::int64_t size, std::int64_t batch) {
  std::vector<std::int64_t> firsts;
  for (std::int64_t first = 0; first < size; first += batch) firsts.push_back(first);
  if (firsts.size() > 1 && size - firsts.back() == 1) firsts.pop_back();
  firsts.push_back(size);
  return firsts;
}

/// The sums of the statistics of all batches: for each layer the means, the variances and the forwards.
class StatisticsSum {
 public:
  explicit StatisticsSum(const std::vector<std::unique_ptr<NormLayer>>& layers) {
    std::size_t count = 0;
    for (const auto& layer : layers) {
      firsts_.push_back(count);
      count += 2 * static_cast<std::size_t>(layer->mean.numel()) + 1;
    }
    sums_.resize(count);
  }

  // The running statistics are the means over the forwards of one batch.
  void add(const std::vector<std::unique_ptr<NormLayer>>& layers) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const double forwards = layers[l]->forwards();
      if (forwards == 0) continue;
      const at::Tensor numbers =
          at::cat({layers[l]->mean, layers[l]->variance}).to(at::kDouble).mul_(forwards).contiguous();
      const auto* const from = numbers.const_data_ptr<double>();
      ExactSum* const to = sums_.data() + firsts_[l];
      for (std::int64_t i = 0; i < numbers.numel(); ++i) to[i].add(from[i]);
      to[numbers.numel()].add(forwards);
    }
  }

  void add_up(Communicator& group) {
    constexpr std::size_t kBytes = ExactSum::kPackedBytes;
    std::vector<std::byte> mine(sums_.size() * kBytes);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i].pack(std::span<std::byte, kBytes>(mine.data() + i * kBytes, kBytes));
    }
    std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(group.size()));
    value_or_throw(
        group.run(all_gather({mine.data(), mine.size(), DType::kU8}, {all.data(), all.size(), DType::kU8})));
    sums_.assign(sums_.size(), {});
    for (std::size_t i = 0; i < all.size() / kBytes; ++i) {
      const std::span<const std::byte, kBytes> packed(all.data() + i * kBytes, kBytes);
      sums_[i % sums_.size()].add(ExactSum::unpack(packed));
    }
  }

  // A layer that no batch reached keeps the statistics of a new layer, as with torch.
  void write(const std::vector<std::unique_ptr<NormLayer>>& layers) const {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      layers[l]->clear();
      const std::int64_t channels = layers[l]->mean.numel();
      const ExactSum* const sums = sums_.data() + firsts_[l];
      const double forwards = sums[2 * channels].value();
      if (forwards == 0) continue;
      std::vector<double> means;
      for (std::int64_t i = 0; i < 2 * channels; ++i) means.push_back(sums[i].value() / forwards);
      const auto doubles = at::TensorOptions().dtype(at::kDouble);
      layers[l]->mean.copy_(at::from_blob(means.data(), {channels}, doubles));
      layers[l]->variance.copy_(at::from_blob(means.data() + channels, {channels}, doubles));
      layers[l]->set_forwards(forwards);
    }
  }

 private:
  std::vector<std::size_t> firsts_;  // per layer
  std::vector<ExactSum> sums_;
};

bool anybody_stops(Communicator& group, bool mine) {
  std::uint8_t flag = mine ? 1 : 0;
  value_or_throw(group.run(all_reduce(std::span(&flag, 1), ReduceOp::kMax)));
  return flag != 0;
}

}  // namespace

bool has_batch_statistics(torch::nn::Module& module) {
  return !norm_layers(module).empty();
}

BatchStatistics::BatchStatistics(Communicator& group, torch::nn::Module& module)
    : group_(group), module_(module), layers_(norm_layers(module)) {}

bool BatchStatistics::compute(const Computation& computation, const Dataset& data,
                              const EvaluationOptions& options) {
  const at::NoGradGuard no_grad;
  const EvaluationMode mode(module_);
  const Alone alone(group_, layers_);
  StatisticsSum sum(layers_);
  const std::vector<std::int64_t> firsts = batch_firsts(data.size(), options.batch);
  bool stops = false;
  const auto world = static_cast<std::size_t>(group_.size());
  for (auto b = static_cast<std::size_t>(group_.rank()); b + 1 < firsts.size(); b += world) {
    stops = options.wants_to_stop && options.wants_to_stop();
    if (stops) break;
    for (const auto& layer : layers_) layer->clear();
    (void)computation(batch_of(data, firsts[b], firsts[b + 1]), options.compute);
    sum.add(layers_);
  }
  if (anybody_stops(group_, stops)) return false;
  sum.add_up(group_);
  sum.write(layers_);
  return true;
}

}  // namespace cohort::train
