#include "comm/message_passing/plan.h"

#include "comm/numbers/combine.h"
#include "comm/schedule/hosts.h"

#include <algorithm>

namespace cohort::comm {
namespace {

bool spans_hosts(const CallFacts& facts) {
  return facts.world > 1 && (facts.hosts.empty() || Hosts(facts).num_hosts() > 1);
}

// Null: the fastest algorithm.
const Algorithm* wanted_algorithm(const CallFacts& facts, const PlanOptions& options) {
  const bool is_free = facts.operation != Operation::kGather && facts.operation != Operation::kScatter;
  if (!is_free || !options.algorithm) return nullptr;
  const Algorithm& wanted = algorithm_of(*options.algorithm);
  return serves(wanted, facts) ? &wanted : nullptr;
}

Choice forced_cut(const Algorithm& algorithm, CallFacts facts, std::size_t element_bytes,
                  const PlanOptions& options) {
  facts.chunk_length = std::max<std::size_t>(1, *options.chunk_bytes / element_bytes);
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
  if (options.chunk_bytes && is_reducing(call.operation)) {
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
