#include "comm/group/call.h"

#include <array>
#include <fmt/format.h>

namespace cohort {
namespace {

constexpr std::array<std::string_view, 11> kOperationNames = {
    "barrier", "all_reduce", "reduce",     "broadcast", "reduce_scatter", "all_gather",
    "gather",  "scatter",    "all_to_all", "send",      "receive"};
static_assert(kOperationNames.size() == std::size(kAllOperations));

}  // namespace

std::string_view name(Operation operation) {
  return kOperationNames[static_cast<std::size_t>(operation)];
}

Call Call::within(std::chrono::nanoseconds time) const {
  Call copy = *this;
  copy.limit = time;
  return copy;
}

Call Call::or_fewer() const {
  Call same = *this;
  same.takes_fewer = true;
  return same;
}

Error consumer_failure(const std::exception& thrown, int global_rank) {
  const auto* error = dynamic_cast<const Error*>(&thrown);  // NOLINT: an exception has no other type tag
  const Error cause = error != nullptr ? *error : Error(ErrorCode::kBug, thrown.what());
  const Error failure = cause.within(fmt::format("the consumer of rank {} failed", global_rank));
  return failure.rank() ? failure : failure.with_rank(global_rank);
}

Call Call::handed_to(const Consumer& taker) const {
  Call copy = *this;
  copy.consumer = &taker;
  return copy;
}

std::string Call::text() const {
  const std::string_view operation_name = name(operation);
  const std::size_t count = std::max(input.count, output.count);
  switch (operation) {
    case Operation::kBarrier:
      return std::string(operation_name);
    case Operation::kAllReduce:
    case Operation::kReduceScatter:
      return fmt::format("{} of {} {} ({})", operation_name, count, name(input.dtype), name(reduce_op));
    case Operation::kReduce:
      return fmt::format("{} of {} {} ({}) to rank {}", operation_name, count, name(input.dtype),
                         name(reduce_op), peer);
    case Operation::kBroadcast:
    case Operation::kScatter:
      return fmt::format("{} of {} {} from rank {}", operation_name, count, name(output.dtype), peer);
    case Operation::kGather:
      return fmt::format("{} of {} {} to rank {}", operation_name, count, name(input.dtype), peer);
    case Operation::kAllGather:
    case Operation::kAllToAll:
      return fmt::format("{} of {} {}", operation_name, count, name(input.dtype));
    case Operation::kSend:
      return fmt::format("{} of {} {} to rank {} (tag {})", operation_name, count, name(input.dtype), peer,
                         tag);
    case Operation::kReceive:
      if (peer == kAnyRank) {
        return fmt::format("{} of {} {} from any rank (tag {})", operation_name, count, name(output.dtype),
                           tag);
      }
      return fmt::format("{} of {} {} from rank {} (tag {})", operation_name, count, name(output.dtype), peer,
                         tag);
  }
  return std::string(operation_name);
}

Call barrier() {
  return {};
}

Call all_reduce(Numbers numbers, ReduceOp op) {
  return all_reduce(numbers, numbers, op);
}

Call all_reduce(ConstNumbers from, Numbers to, ReduceOp op) {
  return {.operation = Operation::kAllReduce, .input = from, .output = to, .reduce_op = op};
}

Call reduce(ConstNumbers from, Numbers to, int root, ReduceOp op) {
  return {.operation = Operation::kReduce, .input = from, .output = to, .reduce_op = op, .peer = root};
}

Call broadcast(Numbers numbers, int root) {
  return {.operation = Operation::kBroadcast, .input = numbers, .output = numbers, .peer = root};
}

Call reduce_scatter(ConstNumbers from, Numbers to, ReduceOp op, std::vector<std::size_t> counts) {
  return {.operation = Operation::kReduceScatter,
          .input = from,
          .output = to,
          .reduce_op = op,
          .input_counts = std::move(counts)};
}

Call all_gather(ConstNumbers from, Numbers to, std::vector<std::size_t> counts) {
  return {
      .operation = Operation::kAllGather, .input = from, .output = to, .output_counts = std::move(counts)};
}

Call gather(ConstNumbers from, Numbers to, int root, std::vector<std::size_t> counts) {
  return {.operation = Operation::kGather,
          .input = from,
          .output = to,
          .peer = root,
          .output_counts = std::move(counts)};
}

Call scatter(ConstNumbers from, Numbers to, int root, std::vector<std::size_t> counts) {
  return {.operation = Operation::kScatter,
          .input = from,
          .output = to,
          .peer = root,
          .input_counts = std::move(counts)};
}

Call all_to_all(ConstNumbers from, Numbers to) {
  return all_to_all(from, to, {}, {});
}

Call all_to_all(ConstNumbers from, Numbers to, std::vector<std::size_t> from_counts,
                std::vector<std::size_t> to_counts) {
  return {.operation = Operation::kAllToAll,
          .input = from,
          .output = to,
          .input_counts = std::move(from_counts),
          .output_counts = std::move(to_counts)};
}

Call send(ConstNumbers numbers, int to, std::uint32_t tag) {
  return {.operation = Operation::kSend, .input = numbers, .peer = to, .tag = tag};
}

Call recv(Numbers numbers, int from, std::uint32_t tag) {
  return {.operation = Operation::kReceive, .output = numbers, .peer = from, .tag = tag};
}

Call recv_any(Numbers numbers, int& source, std::uint32_t tag) {
  return {
      .operation = Operation::kReceive, .output = numbers, .peer = kAnyRank, .source = &source, .tag = tag};
}

}  // namespace cohort
