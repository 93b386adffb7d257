#pragma once

#include <ATen/core/Tensor.h>
#include <cohort/export.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <ostream>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/options/batchnorm.h>
#include <torch/nn/pimpl.h>

namespace cohort {
class Group;
}

namespace cohort::nn {

class StatisticsExchange;

/// The tensors and settings of a batch normalisation, for one forward.
struct BatchNormCall {
  at::Tensor weight{};  ///< may be undefined, as the others
  at::Tensor bias{};
  at::Tensor running_mean{};         ///< changed by a forward in training mode
  at::Tensor running_var{};          ///< likewise
  at::Tensor num_batches_tracked{};  ///< likewise
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  ///< nullopt: running statistics are the mean of those of all batches
  bool is_training = true;
};

/// A layer that normalises over the batches of all ranks of a group. connect_batch_norm(), a Trainer or a
/// DataParallel gives it that group.
class COHORT_EXPORT SynchronisedLayer {
 public:
  virtual ~SynchronisedLayer();

  // For code of Cohort.
  const std::shared_ptr<StatisticsExchange>& exchange() const { return exchange_; }
  void set_exchange(std::shared_ptr<StatisticsExchange> exchange) { exchange_ = std::move(exchange); }

 protected:
  /// The normalised input, whose second dim are the channels.
  at::Tensor normalised(const at::Tensor& input, const BatchNormCall& call) const;
  /// Failure: throws UsageError unless the input has `least` to `most` dims and `channels` channels.
  static void check_input(const at::Tensor& input, std::int64_t channels, std::int64_t least,
                          std::int64_t most);

 private:
  std::shared_ptr<StatisticsExchange> exchange_;
};

/// The common part of SyncBatchNorm1d, 2d and 3d.
template <std::size_t D, class Derived>
class SyncBatchNormImplBase : public torch::nn::NormImplBase<D, Derived, torch::nn::BatchNormOptions>,
                              public SynchronisedLayer {
 public:
  using torch::nn::NormImplBase<D, Derived, torch::nn::BatchNormOptions>::NormImplBase;

  // For code of Cohort: takes over parameters, buffers and mode of a layer with the same options.
  template <class Norm>
  void take_over(const Norm& other) {
    if (this->options.affine()) {
      this->weight = this->parameters_["weight"] = other.weight;
      this->bias = this->parameters_["bias"] = other.bias;
    }
    if (this->options.track_running_stats()) {
      this->running_mean.set_data(other.running_mean);
      this->running_var.set_data(other.running_var);
      this->num_batches_tracked.set_data(other.num_batches_tracked);
    }
    this->train(other.is_training());
  }

  void pretty_print(std::ostream& stream) const override {
    stream << "cohort::nn::SyncBatchNorm" << D << "d(" << this->options.num_features() << ")";
  }

 protected:
  at::Tensor run(const at::Tensor& input) {
    _check_input_dim(input);
    return normalised(input, {.weight = this->weight,
                              .bias = this->bias,
                              .running_mean = this->running_mean,
                              .running_var = this->running_var,
                              .num_batches_tracked = this->num_batches_tracked,
                              .eps = this->options.eps(),
                              .momentum = this->options.momentum(),
                              .is_training = this->is_training()});
  }
  void _check_input_dim(const at::Tensor& input) override {
    constexpr auto kDims = static_cast<std::int64_t>(D) + 2;
    check_input(input, this->options.num_features(), D == 1 ? 2 : kDims, kDims);
  }
};

/// Batch normalisation over the batches of all ranks of a group, as torch.nn.SyncBatchNorm: mean, variance
/// and their part of the gradient are those of all samples of all ranks, however these are divided. Options,
/// names of parameters and buffers, and results on one rank are those of torch::nn::BatchNorm1d, so each
/// loads the state of the other.
///
///     norm = register_module("norm", cohort::nn::SyncBatchNorm2d(64));
///     …
///     cohort::DataParallel parallel(context, *net);  // gives the layers the group
///
/// A Trainer or a DataParallel gives the layers of its module their group; connect_batch_norm() gives them
/// another one, and is for loops without both. A rank may have an empty batch (0 × channels × …), and takes
/// part with it. In eval() mode, running statistics are used, without communication.
///
/// Threads: one at a time; the layers of a module share one communicator, which nothing else uses.
/// Failure: forward() in training mode throws UsageError if the layer has no group, and if all ranks together
/// have a single value per channel; forward() and backward() throw what the group reports. All ranks must
/// make the same forwards and backwards, in the same order. Gradients of gradients are refused.
/// Cost: forward one all-reduce of 2C+1 numbers (for f64: one of C+1 and one of C), backward one of 2C. Sums
/// are in f64, other arithmetic in f32 for f32, bf16 and f16, and in f64 for f64.
class COHORT_EXPORT SyncBatchNorm1dImpl : public SyncBatchNormImplBase<1, SyncBatchNorm1dImpl> {
 public:
  using SyncBatchNormImplBase::SyncBatchNormImplBase;
  at::Tensor forward(const at::Tensor& input) { return run(input); }
};
TORCH_MODULE(SyncBatchNorm1d);

/// The same for images: samples × channels × height × width, in any memory format.
class COHORT_EXPORT SyncBatchNorm2dImpl : public SyncBatchNormImplBase<2, SyncBatchNorm2dImpl> {
 public:
  using SyncBatchNormImplBase::SyncBatchNormImplBase;
  at::Tensor forward(const at::Tensor& input) { return run(input); }
};
TORCH_MODULE(SyncBatchNorm2d);

/// The same for volumes: samples × channels × depth × height × width.
class COHORT_EXPORT SyncBatchNorm3dImpl : public SyncBatchNormImplBase<3, SyncBatchNorm3dImpl> {
 public:
  using SyncBatchNormImplBase::SyncBatchNormImplBase;
  at::Tensor forward(const at::Tensor& input) { return run(input); }
};
TORCH_MODULE(SyncBatchNorm3d);

/// Gives every SyncBatchNorm inside `module`, and `module` itself, this group, in place of one that it has.
/// Trainer and DataParallel leave such layers as they are. A group of one rank makes the layers local.
/// All ranks of the group call it together.
///
/// Lifetime: the layers keep what they need of the group.
COHORT_EXPORT void connect_batch_norm(torch::nn::Module& module, Group& group);

/// Replaces every torch::nn::BatchNorm1d, 2d and 3d inside `module` by a SyncBatchNorm, as
/// SyncBatchNorm.convert_sync_batchnorm in PyTorch, and returns how many. Layers keep their parameters
/// (the same tensors), the memory of their buffers, options, names and training mode; a layer at several
/// places stays one layer. The new layers have no group until a Trainer, a DataParallel or
/// connect_batch_norm() gives them one.
///
/// Layers in a Sequential, ModuleList or ModuleDict, at any depth, are replaced. A member of your own class,
/// such as `torch::nn::BatchNorm2d norm{nullptr};`, cannot be: C++ has no way to find it. Make it a
/// `cohort::nn::SyncBatchNorm2d`.
///
/// Failure: throws UsageError, naming the layer, if a layer is held by anything else than such containers, and
/// for a `module` that is itself a batch normalisation; then nothing is replaced.
COHORT_EXPORT std::size_t convert_sync_batch_norm(torch::nn::Module& module);
/// The same, and gives the layers this group. All ranks of the group call it together.
COHORT_EXPORT std::size_t convert_sync_batch_norm(torch::nn::Module& module, Group& group);

}  // namespace cohort::nn
