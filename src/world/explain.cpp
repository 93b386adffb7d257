#include "world/hosts_world.h"

#include "base/units.h"

#include <cmath>
#include <fmt/format.h>

namespace cohort::world {
namespace {

constexpr std::size_t kSizes[] = {std::size_t{4}, std::size_t{4} << 10, std::size_t{64} << 10,
                                  std::size_t{1} << 20, std::size_t{32} << 20};

std::string duration(double seconds) {
  return format_duration(std::chrono::nanoseconds(std::llround(seconds * 1e9)));
}

std::string rate(double byte_s) {
  return fmt::format("{:.4g} Mbit/s", 8e-6 / byte_s);
}

// A call with `bytes` on each rank. Its pointers are null: a plan looks at sizes only.
Call call_of(Operation operation, std::size_t bytes, int world) {
  const auto ranks = static_cast<std::size_t>(world);
  const std::size_t count = (bytes / sizeof(float) + ranks - 1) / ranks * ranks;
  const Numbers whole(nullptr, count, DType::kF32);
  const Numbers part(nullptr, count / ranks, DType::kF32);
  switch (operation) {
    case Operation::kReduceScatter:
      return reduce_scatter(ConstNumbers(whole), part);
    case Operation::kAllGather:
      return all_gather(ConstNumbers(part), whole);
    case Operation::kBroadcast:
      return broadcast(whole, 0);
    case Operation::kAllToAll:
      return all_to_all(ConstNumbers(whole), whole);
    default:
      return all_reduce(whole);
  }
}

std::string line_of(Operation operation, const comm::PlanOptions& plan, int world) {
  std::string line = fmt::format("{:<16}", name(operation));
  for (const std::size_t bytes : kSizes) {
    const Call call = call_of(operation, bytes, world);
    const comm::Choice choice = comm::choice_for(call, comm::facts_for(call, 0, world, plan), plan);
    const std::string chunks = choice.chunks > 1 ? fmt::format(" in {}", choice.chunks) : "";
    line += fmt::format("{:<30}",
                        fmt::format("{}{}, {}", choice.algorithm->name(), chunks, duration(choice.seconds)));
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string explain(const comm::PlanOptions& plan, int world, int sockets) {
  const comm::Prices& prices = plan.prices;
  std::string text = fmt::format(
      "between hosts: {} per message, {}, {} socket{}; inside a host: {} per message, {}; combining {:.3g} "
      "GB/s; "
      "wire type {}\n",
      duration(prices.far_step_s), rate(prices.far_byte_s), sockets, sockets == 1 ? "" : "s",
      duration(prices.step_s), rate(prices.byte_s), 1e-9 / prices.combined_byte_s, name(plan.wire));
  text += fmt::format("{:<16}", "");
  for (const std::size_t bytes : kSizes) text += fmt::format("{:<30}", format_bytes(bytes));
  text = text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  for (const Operation operation : {Operation::kAllReduce, Operation::kReduceScatter, Operation::kAllGather,
                                    Operation::kBroadcast, Operation::kAllToAll}) {
    text += line_of(operation, plan, world);
  }
  return text;
}

}  // namespace cohort::world
