#include "base/check.h"
#include "data/batch_first.h"
#include "layout/sample_order.h"

#include <ATen/ATen.h>
#include <cohort/error.h>
#include <cohort/views.h>
#include <fmt/format.h>
#include <mutex>
#include <optional>

namespace cohort {
namespace {

class Transformed final : public Dataset {
 public:
  Transformed(std::shared_ptr<const Dataset> source, SampleTransform change)
      : source_(std::move(source)), change_(std::move(change)) {}

  std::int64_t size() const override { return source_->size(); }
  Sample at(std::int64_t index) const override { return change_(source_->at(index), index); }
  Sample drawn(std::int64_t index, const Draw& draw) const override {
    return change_(source_->drawn(index, draw), index);
  }

 private:
  const std::shared_ptr<const Dataset> source_;
  const SampleTransform change_;
};

class Augmented final : public Dataset {
 public:
  Augmented(std::shared_ptr<const Dataset> source, SampleAugmentation change)
      : source_(std::move(source)), change_(std::move(change)) {}

  std::int64_t size() const override { return source_->size(); }
  Sample at(std::int64_t index) const override { return drawn(index, Draw{}); }
  Sample drawn(std::int64_t index, const Draw& draw) const override {
    const RandomStream of_draw = RandomStream(draw.seed, kAugmentStream).substream(draw.epoch);
    // The source gets another seed, so that augmentations below this one draw other numbers.
    const Draw below{.seed = RandomStream(draw.seed, kSourceStream).bits(0), .epoch = draw.epoch};
    return change_(source_->drawn(index, below), of_draw.substream(static_cast<std::uint64_t>(index)));
  }

 private:
  static constexpr std::uint64_t kAugmentStream = 0x6175676D656E74;
  static constexpr std::uint64_t kSourceStream = 0x736F75726365;

  const std::shared_ptr<const Dataset> source_;
  const SampleAugmentation change_;
};

class Cached final : public Dataset {
 public:
  explicit Cached(std::shared_ptr<const Dataset> source)
      : source_(std::move(source)), kept_(static_cast<std::size_t>(source_->size())) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(kept_.size()); }

  // Every draw gets the sample of evaluations: the draw that happens to come first would depend on the rank.
  // Two threads may load the same sample at the same time; the first result is kept.
  Sample at(std::int64_t index) const override {
    data::require_sample(index, size());
    std::optional<Sample>& kept = kept_[static_cast<std::size_t>(index)];
    {
      const std::lock_guard lock(mutex_);
      if (kept) return *kept;
    }
    Sample sample = source_->at(index);
    const std::lock_guard lock(mutex_);
    if (!kept) kept = std::move(sample);
    return *kept;
  }

 private:
  const std::shared_ptr<const Dataset> source_;
  mutable std::mutex mutex_;
  mutable std::vector<std::optional<Sample>> kept_;
};

/// A data set whose sample i is sample number(i) of another.
class Renumbered : public Dataset {
 public:
  explicit Renumbered(std::shared_ptr<const Dataset> source) : source_(std::move(source)) {}

  Sample at(std::int64_t index) const final {
    data::require_sample(index, size());
    return source_->at(number(index));
  }

  Sample drawn(std::int64_t index, const Draw& draw) const final {
    data::require_sample(index, size());
    return source_->drawn(number(index), draw);
  }

  Batch batch(std::span<const std::int64_t> indices, const Draw& draw) const final {
    data::require_samples(indices, size());
    std::vector<std::int64_t> numbers;
    numbers.reserve(indices.size());
    for (std::int64_t index : indices) numbers.push_back(number(index));
    Batch batch = source_->batch(numbers, draw);
    batch.samples.assign(indices.begin(), indices.end());
    return batch;
  }

 protected:
  virtual std::int64_t number(std::int64_t index) const = 0;
  const Dataset& source() const { return *source_; }

 private:
  const std::shared_ptr<const Dataset> source_;
};

class Subset final : public Renumbered {
 public:
  Subset(std::shared_ptr<const Dataset> source, std::int64_t first, std::int64_t last)
      : Renumbered(std::move(source)), first_(first), last_(last) {}

  std::int64_t size() const override { return last_ - first_; }

 private:
  std::int64_t number(std::int64_t index) const override { return first_ + index; }

  const std::int64_t first_;
  const std::int64_t last_;
};

class Selected final : public Renumbered {
 public:
  Selected(std::shared_ptr<const Dataset> source, std::vector<std::int64_t> indices)
      : Renumbered(std::move(source)), indices_(std::move(indices)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(indices_.size()); }

 private:
  std::int64_t number(std::int64_t index) const override { return indices_[static_cast<std::size_t>(index)]; }

  const std::vector<std::int64_t> indices_;
};

class Shuffled final : public Renumbered {
 public:
  Shuffled(std::shared_ptr<const Dataset> source, std::uint64_t seed)
      : Renumbered(std::move(source)),
        order_(static_cast<std::uint64_t>(this->source().size()), Shuffle::kEveryEpoch, seed) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(order_.num_samples()); }

 private:
  std::int64_t number(std::int64_t index) const override {
    return static_cast<std::int64_t>(order_.at(0, static_cast<std::uint64_t>(index)));
  }

  const SampleOrder order_;
};

void require_source(const std::shared_ptr<const Dataset>& source) {
  if (source == nullptr) throw UsageError("a view needs a data set, not a null pointer");
}

}  // namespace

std::shared_ptr<Dataset> transform(std::shared_ptr<const Dataset> source, SampleTransform change) {
  require_source(source);
  if (change == nullptr) throw UsageError("transform() needs a function");
  return std::make_shared<Transformed>(std::move(source), std::move(change));
}

std::shared_ptr<Dataset> augment(std::shared_ptr<const Dataset> source, SampleAugmentation change) {
  require_source(source);
  if (change == nullptr) throw UsageError("augment() needs a function");
  return std::make_shared<Augmented>(std::move(source), std::move(change));
}

std::shared_ptr<Dataset> cache(std::shared_ptr<const Dataset> source) {
  require_source(source);
  return std::make_shared<Cached>(std::move(source));
}

std::shared_ptr<Dataset> subset(std::shared_ptr<const Dataset> source, std::int64_t first,
                                std::int64_t last) {
  require_source(source);
  if (first < 0 || last < first || last > source->size()) {
    throw UsageError(fmt::format("samples {} to {} are not part of a data set of {} samples", first, last,
                                 source->size()));
  }
  return std::make_shared<Subset>(std::move(source), first, last);
}

std::shared_ptr<Dataset> select(std::shared_ptr<const Dataset> source, std::vector<std::int64_t> indices) {
  require_source(source);
  data::require_samples(indices, source->size());
  return std::make_shared<Selected>(std::move(source), std::move(indices));
}

std::shared_ptr<Dataset> shuffle(std::shared_ptr<const Dataset> source, std::uint64_t seed) {
  require_source(source);
  return std::make_shared<Shuffled>(std::move(source), seed);
}

}  // namespace cohort
