#include "nn/statistics_exchange.h"

#include "base/home_process.h"

namespace cohort::nn {

std::shared_ptr<StatisticsExchange> StatisticsExchange::make(Communicator& group, ConnectedBy who,
                                                             std::shared_ptr<void> keeps) {
  auto own = value_or_throw(group.split(0, group.rank(), "batch norm"));
  return {new StatisticsExchange(std::move(own), who, std::move(keeps)), DeleteAtHome()};
}

void StatisticsExchange::add_up(std::span<double> numbers) {
  if (size() == 1) return;
  const auto start = std::chrono::steady_clock::now();
  value_or_throw(own_->run(all_reduce(numbers)));
  waited_ += std::chrono::steady_clock::now() - start;
}

}  // namespace cohort::nn
