#include "train/norm_layer.h"

#include "nn/running_statistics.h"
#include <cohort/batch_norm.h>

#include <ATen/ATen.h>
#include <torch/nn/modules/batchnorm.h>

namespace cohort::train {

NormLayer::NormLayer(std::shared_ptr<torch::nn::Module> module, const std::vector<at::Tensor>& buffers)
    : mean(buffers[0]), variance(buffers[1]), module_(std::move(module)), count_(buffers[2]) {
  for (const at::Tensor& each : buffers) own_.push_back(each.defined() ? each.clone() : each);
  synchronised_ = dynamic_cast<nn::SynchronisedLayer*>(module_.get());  // NOLINT: no other tag for its type
  if (synchronised_ != nullptr) exchange_ = synchronised_->exchange();
}

NormLayer::~NormLayer() {
  const at::NoGradGuard no_grad;
  mean.copy_(own_[0]);
  variance.copy_(own_[1]);
  if (count_.defined()) count_.copy_(own_[2]);
}

void NormLayer::clear() {
  mean.zero_();
  variance.fill_(1);
  if (count_.defined()) count_.zero_();
}

void NormLayer::begin(const std::shared_ptr<nn::StatisticsExchange>& alone) {
  module_->train();
  take_means();
  if (synchronised_ != nullptr) synchronised_->set_exchange(alone);
}

void NormLayer::end() {
  take_own_momentum();
  if (synchronised_ != nullptr) synchronised_->set_exchange(exchange_);
}

double NormLayer::forwards() const {
  return count_.defined() ? count_.item<double>() : 1;
}

void NormLayer::set_forwards(double forwards) {
  if (count_.defined()) count_.fill_(forwards);
}

namespace {

/// A layer of torch, or one with its options.
template <class Layer>
class TorchNorm final : public NormLayer {
 public:
  explicit TorchNorm(const std::shared_ptr<Layer>& layer)
      : NormLayer(layer, {layer->running_mean, layer->running_var, layer->num_batches_tracked}),
        layer_(*layer),
        momentum_(layer->options.momentum()) {}

 private:
  void take_means() override { layer_.options.momentum(std::nullopt); }
  void take_own_momentum() override { layer_.options.momentum(momentum_); }

  Layer& layer_;
  const std::optional<double> momentum_;
};

/// A layer of the models of Cohort.
class OwnNorm final : public NormLayer {
 public:
  OwnNorm(std::shared_ptr<torch::nn::Module> module, nn::RunningStatistics& layer)
      : NormLayer(std::move(module), {layer.running_mean(), layer.running_var(), {}}), layer_(layer) {}

 private:
  void take_means() override { layer_.set_momentum(1); }
  void take_own_momentum() override { layer_.set_momentum(std::nullopt); }

  nn::RunningStatistics& layer_;
};

template <class Layer>
std::unique_ptr<NormLayer> torch_norm(const std::shared_ptr<torch::nn::Module>& module) {
  const auto layer = std::dynamic_pointer_cast<Layer>(module);  // NOLINT
  if (layer == nullptr || !layer->running_mean.defined()) return nullptr;
  return std::make_unique<TorchNorm<Layer>>(layer);
}

std::unique_ptr<NormLayer> own_norm(const std::shared_ptr<torch::nn::Module>& module) {
  auto* const layer = dynamic_cast<nn::RunningStatistics*>(module.get());  // NOLINT
  return layer == nullptr ? nullptr : std::make_unique<OwnNorm>(module, *layer);
}

std::unique_ptr<NormLayer> norm_layer(const std::shared_ptr<torch::nn::Module>& module) {
  using Try = std::unique_ptr<NormLayer> (*)(const std::shared_ptr<torch::nn::Module>&);
  constexpr Try kTries[] = {own_norm,
                            torch_norm<torch::nn::BatchNorm1dImpl>,
                            torch_norm<torch::nn::BatchNorm2dImpl>,
                            torch_norm<torch::nn::BatchNorm3dImpl>,
                            torch_norm<nn::SyncBatchNorm1dImpl>,
                            torch_norm<nn::SyncBatchNorm2dImpl>,
                            torch_norm<nn::SyncBatchNorm3dImpl>};
  for (const Try attempt : kTries) {
    if (auto layer = attempt(module)) return layer;
  }
  return nullptr;
}

}  // namespace

std::vector<std::unique_ptr<NormLayer>> norm_layers(torch::nn::Module& module) {
  std::vector<std::unique_ptr<NormLayer>> layers;
  for (const auto& part : module.modules()) {
    auto layer = part->is_training() ? norm_layer(part) : nullptr;
    if (layer != nullptr) layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace cohort::train
