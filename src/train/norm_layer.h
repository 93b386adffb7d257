#pragma once

#include "nn/statistics_exchange.h"

#include <ATen/core/Tensor.h>
#include <memory>
#include <torch/nn/module.h>
#include <vector>

namespace cohort::nn {
class SynchronisedLayer;
}

namespace cohort::train {

/// A layer of batch normalisation with running statistics, whose statistics become others while this lives.
///
/// Lifetime: the destructor gives the layer its own statistics back.
class NormLayer {
 public:
  NormLayer(const NormLayer&) = delete;
  NormLayer& operator=(const NormLayer&) = delete;
  virtual ~NormLayer();

  /// Sets the statistics to those of a new layer.
  void clear();
  /// From now on until end() the layer normalises by itself, in training mode, and its statistics after
  /// clear() are the means of those of all forwards.
  void begin(const std::shared_ptr<nn::StatisticsExchange>& alone);
  void end();
  /// The number of forwards since clear().
  double forwards() const;
  void set_forwards(double forwards);

  const at::Tensor mean, variance;  // the buffers of the layer

 protected:
  NormLayer(std::shared_ptr<torch::nn::Module> module, const std::vector<at::Tensor>& buffers);

 private:
  virtual void take_means() = 0;
  virtual void take_own_momentum() = 0;

  const std::shared_ptr<torch::nn::Module> module_;
  const at::Tensor count_;  // may be undefined: one forward in a batch
  std::vector<at::Tensor> own_;
  nn::SynchronisedLayer* synchronised_ = nullptr;  // the layer, if it is one
  std::shared_ptr<nn::StatisticsExchange> exchange_{};
};

/// The layers of a module that are in training mode and have running statistics: those of torch and of
/// Cohort.
std::vector<std::unique_ptr<NormLayer>> norm_layers(torch::nn::Module& module);

}  // namespace cohort::train
