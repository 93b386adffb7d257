#pragma once

#include "train/gradient_intake.h"
#include "train/module_tensors.h"

#include <functional>
#include <vector>

namespace cohort::train {

/// Stores the gradients of a step in buckets: the first of a parameter where backward computed it, if the
/// bucket can adopt that memory, and otherwise by a copy; those of later micro-batches are added.
///
/// Threads: as GradientSink; open() while no backward runs.
/// Lifetime: buckets and names must outlive it.
/// Failure: store() throws UsageError for a part of a gradient that comes after the others were used.
class GradientStore : public GradientSink {
 public:
  struct Listener {
    std::function<void(std::size_t parameter)> stored{};
    std::function<void(std::size_t bucket)> full{};
  };

  GradientStore(BucketSet& buckets, const std::vector<NamedTensor>& parameters, Listener listener)
      : buckets_(buckets), parameters_(parameters), listener_(std::move(listener)) {}

  /// Gradients belong to a step while this lives. Other gradients, of the user's own backward, stay at their
  /// parameters.
  class Opened {
   public:
    explicit Opened(GradientStore& store) : store_(store) { store_.is_open_ = true; }
    ~Opened() { store_.is_open_ = false; }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;

   private:
    GradientStore& store_;
  };
  [[nodiscard]] Opened open() { return Opened(*this); }

  bool accepts(std::size_t /*parameter*/) override { return is_open_; }
  void store(std::size_t parameter, at::Tensor gradient, Arrival arrival) override;
  void full(std::size_t bucket) override { listener_.full(bucket); }

 private:
  void store_first(std::size_t parameter, at::Tensor gradient);
  void add_part(std::size_t parameter, const at::Tensor& gradient);
  [[noreturn]] void refuse_late_part(std::size_t parameter) const;

  BucketSet& buckets_;
  const std::vector<NamedTensor>& parameters_;
  const Listener listener_;
  bool is_open_ = false;
};

}  // namespace cohort::train
