#include "train/arrival_order.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace cohort::train {

std::vector<std::size_t> agreed_order(Communicator& group, const std::vector<std::size_t>& arrivals,
                                      std::size_t num_parameters) {
  std::vector<std::int64_t> order;
  std::vector<bool> seen(num_parameters, false);
  for (auto p = arrivals.rbegin(); p != arrivals.rend(); ++p) {
    if (!seen[*p]) order.push_back(static_cast<std::int64_t>(*p));
    seen[*p] = true;
  }
  std::reverse(order.begin(), order.end());
  for (std::size_t p = 0; p < num_parameters; ++p) {
    if (!seen[p]) order.push_back(static_cast<std::int64_t>(p));
  }
  value_or_throw(group.run(broadcast(std::span(order), 0)));
  return {order.begin(), order.end()};
}

std::vector<std::size_t> expected_order(std::size_t num_parameters) {
  std::vector<std::size_t> order(num_parameters);
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  return order;
}

}  // namespace cohort::train
