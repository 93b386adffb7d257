#include "nn/synchronised_layers.h"
#include <cohort/group.h>

#include <torch/nn/module.h>

namespace cohort::nn {

void connect_batch_norm(torch::nn::Module& module, Group& group) {
  const auto exchange = StatisticsExchange::make(group.communicator(), ConnectedBy::kUser, group.hold());
  for (const auto& layer : synchronised_layers(module)) layer->set_exchange(exchange);
}

std::size_t convert_sync_batch_norm(torch::nn::Module& module, Group& group) {
  const std::size_t count = convert_sync_batch_norm(module);
  connect_batch_norm(module, group);
  return count;
}

}  // namespace cohort::nn
