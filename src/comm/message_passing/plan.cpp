#include "comm/message_passing/plan.h"

#include "comm/numbers/combine.h"
#include "comm/schedule/hosts.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::comm {
namespace {

// Every chunk is a message: a smaller value is surely a mistake.
constexpr std::size_t kLeastChunkBytes = 4096;

bool spans_hosts(const CallFacts& facts) {
  return facts.world > 1 && (facts.hosts.empty() || Hosts(facts).num_hosts() > 1);
}

// Null: the fastest algorithm.
const Algorithm* wanted_algorithm(const CallFacts& facts, const PlanOptions& options) {
  const bool is_free = facts.operation != Operation::kGather && facts.operation != Operation::kScatter;
  if (!is_free || options.algorithm.empty()) return nullptr;
  const Algorithm* wanted = find_algorithm(options.algorithm);
  return wanted != nullptr && serves(*wanted, facts) ? wanted : nullptr;
}

Choice forced_cut(const Algorithm& algorithm, CallFacts facts, std::size_t element_bytes,
                  const PlanOptions& options) {
  facts.chunk_length = std::max<std::size_t>(1, options.chunk_bytes / element_bytes);
  return {.algorithm = &algorithm,
          .chunks = num_chunks(algorithm.effort(facts).longest, facts.chunk_length),
          .chunk_length = facts.chunk_length,
          .seconds = predict_seconds(algorithm, facts, element_bytes, options.prices)};
}

}  // namespace

bool is_reducing(Operation operation) {
  return operation == Operation::kAllReduce || operation == Operation::kReduce ||
         operation == Operation::kReduceScatter;
}

DType work_dtype(const Call& call) {
  if (is_reducing(call.operation)) return accumulator_of(call.input.dtype);
  const bool is_from_root = call.operation == Operation::kScatter || call.operation == Operation::kBroadcast;
  return is_from_root ? call.output.dtype : call.input.dtype;
}

Status check_plan_options(const PlanOptions& options) {
  if (options.chunk_bytes > 0 && options.chunk_bytes < kLeastChunkBytes) {
    return Error(ErrorCode::kUsage, fmt::format("chunk_bytes is {}, expected 0, or {} or more",
                                                options.chunk_bytes, kLeastChunkBytes))
        .with_remedy("Give 0 for the fastest length.");
  }
  if (options.algorithm.empty() || find_algorithm(options.algorithm) != nullptr) return {};
  std::string names;
  for (const Algorithm& algorithm : all_algorithms()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", algorithm.name);
  }
  return Error(ErrorCode::kUsage, fmt::format("there is no algorithm '{}'", options.algorithm))
      .with_remedy(fmt::format("Name one of {}, or give an empty name for the fastest.", names));
}

CallFacts facts_for(const Call& call, int rank, int world, const PlanOptions& options) {
  CallFacts facts = facts_of(call, rank, world);
  facts.hosts = options.hosts;
  const bool is_float = work_dtype(call) == DType::kF32;
  if (is_reducing(call.operation) && is_float && spans_hosts(facts)) facts.wire = options.wire;
  return facts;
}

Choice choice_for(const Call& call, const CallFacts& facts, const PlanOptions& options) {
  const std::size_t element_bytes = size_bytes(work_dtype(call));
  const Algorithm* wanted = wanted_algorithm(facts, options);
  Choice choice = wanted != nullptr ? best_cut(*wanted, facts, element_bytes, options.prices)
                                    : choose(facts, element_bytes, options.prices);
  if (options.chunk_bytes > 0 && is_reducing(call.operation)) {
    choice = forced_cut(*choice.algorithm, facts, element_bytes, options);
  }
  return choice;
}

Schedule plan(const Call& call, int rank, int world, const PlanOptions& options) {
  CallFacts facts = facts_for(call, rank, world, options);
  const Choice choice = choice_for(call, facts, options);
  facts.chunk_length = choice.chunk_length;
  return plan_call(*choice.algorithm, facts);
}

}  // namespace cohort::comm
