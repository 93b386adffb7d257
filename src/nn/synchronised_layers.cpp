#include "nn/synchronised_layers.h"

#include <algorithm>
#include <torch/nn/module.h>

namespace cohort::nn {
namespace {

bool is_free(const SynchronisedLayer& layer) {
  return layer.exchange() == nullptr || layer.exchange()->connected_by() == ConnectedBy::kTraining;
}

}  // namespace

std::vector<std::shared_ptr<SynchronisedLayer>> synchronised_layers(torch::nn::Module& module) {
  std::vector<std::shared_ptr<SynchronisedLayer>> layers;
  const auto add = [&](std::shared_ptr<SynchronisedLayer> layer) {
    const bool is_known = std::find(layers.begin(), layers.end(), layer) != layers.end();
    if (layer != nullptr && !is_known) layers.push_back(std::move(layer));
  };
  for (const auto& part : module.modules(/*include_self=*/false)) {
    add(std::dynamic_pointer_cast<SynchronisedLayer>(part));
  }
  // The module itself may be a local variable: the pointer owns nothing.
  add({std::shared_ptr<void>(), dynamic_cast<SynchronisedLayer*>(&module)});
  return layers;
}

SynchronisedLayers::SynchronisedLayers(Communicator& group, torch::nn::Module& module)
    : layers_(synchronised_layers(module)) {
  const bool any_is_free =
      std::any_of(layers_.begin(), layers_.end(), [](const auto& layer) { return is_free(*layer); });
  if (any_is_free) own_ = StatisticsExchange::make(group, ConnectedBy::kTraining);
  for (const auto& layer : layers_) {
    if (is_free(*layer)) layer->set_exchange(own_);
    if (std::find(exchanges_.begin(), exchanges_.end(), layer->exchange()) == exchanges_.end()) {
      exchanges_.push_back(layer->exchange());
    }
  }
}

SynchronisedLayers::~SynchronisedLayers() {
  for (const auto& layer : layers_) {
    if (own_ != nullptr && layer->exchange() == own_) layer->set_exchange(nullptr);
  }
}

bool SynchronisedLayers::communicate() const {
  return std::any_of(exchanges_.begin(), exchanges_.end(), [](const auto& each) { return each->size() > 1; });
}

void SynchronisedLayers::set_standing(Standing standing) {
  for (const auto& each : exchanges_) each->set_standing(standing);
}

std::chrono::nanoseconds SynchronisedLayers::waited() const {
  std::chrono::nanoseconds sum{0};
  for (const auto& each : exchanges_) sum += each->waited();
  return sum;
}

std::vector<Communicator*> SynchronisedLayers::communicators() const {
  std::vector<Communicator*> all;
  for (const auto& each : exchanges_) all.push_back(&each->communicator());
  return all;
}

}  // namespace cohort::nn
