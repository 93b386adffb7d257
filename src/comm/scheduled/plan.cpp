#include "comm/scheduled/plan.h"

#include "comm/combine.h"

#include <fmt/format.h>

namespace cohort::comm {

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
  if (options.algorithm.empty() || find_algorithm(options.algorithm) != nullptr) return {};
  std::string names;
  for (const Algorithm& algorithm : all_algorithms()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", algorithm.name);
  }
  return Error(ErrorCode::kUsage, fmt::format("there is no algorithm '{}'", options.algorithm))
      .with_remedy(fmt::format("Name one of {}, or none.", names));
}

const Algorithm& algorithm_for(const Call& call, const CallFacts& facts, const PlanOptions& options) {
  const bool is_free = call.operation != Operation::kGather && call.operation != Operation::kScatter;
  if (is_free && !options.algorithm.empty()) {
    const Algorithm* wanted = find_algorithm(options.algorithm);
    if (wanted != nullptr && serves(*wanted, facts)) return *wanted;
  }
  return choose(facts, size_bytes(work_dtype(call)), options.prices);
}

Schedule plan(const Call& call, int rank, int world, const PlanOptions& options) {
  CallFacts facts = facts_of(call, rank, world);
  facts.hosts = options.hosts;
  return plan_call(algorithm_for(call, facts, options), facts);
}

}  // namespace cohort::comm
