#include "job.h"

#include "layout/batch_plan.h"
#include "layout/buckets.h"
#include "layout/program.h"
#include "observe/plan_report.h"
#include "train/bucket_set.h"
#include "train/gradient_intake.h"
#include "train/module_tensors.h"
#include "train/settings.h"

#include <bit>
#include <fmt/format.h>
#include <iostream>

namespace cohort::tool {
namespace {

using observe::PlanReport;

// `sgd with momentum 0.9, learning rate 0.02`
std::string optimizer_text(const OptimizerSettings& settings) {
  std::string text(name(settings.kind));
  if (settings.kind == OptimizerKind::kSgd && settings.momentum > 0) {
    text += fmt::format(" with {}momentum {}", settings.nesterov ? "Nesterov " : "", settings.momentum);
  }
  return fmt::format("{}, learning rate {}", text, settings.learning_rate);
}

void add_slots(PlanReport& plan, const Job& job, int world) {
  const int slots = train::slots_of(job.options, world);
  for (int rank = 0; rank < world; ++rank) plan.slots_of_rank.push_back(deal(slots, world, rank));
}

BucketLayout layout_of(const std::vector<train::NamedTensor>& parameters, const Job& job, int world) {
  std::vector<std::size_t> counts;
  for (const auto& named : parameters) counts.push_back(static_cast<std::size_t>(named.tensor.numel()));
  return layout_for(counts, train::expected_order(counts.size()), world,
                    job.options.bucket_bytes / sizeof(float));
}

void add_buckets(PlanReport& plan, const BucketLayout& layout,
                 const std::vector<train::NamedTensor>& parameters) {
  for (const Bucket& bucket : layout.buckets) {
    plan.buckets.push_back({.tensors = static_cast<int>(bucket.entries.size()),
                            .bytes = bucket.count * sizeof(float),
                            .first = parameters[bucket.entries.front().parameter].name,
                            .last = parameters[bucket.entries.back().parameter].name});
  }
}

Copies copies_of(const Job& job, int world) {
  return job.options.one_copy && world > 1 ? Copies::kOne : Copies::kPerRank;
}

// Memory besides the gradients, in elements: with summation by tree, a copy for each level below the slots of
// a rank and one bucket for the levels above; otherwise the reduced slice, if the update waits for the vote.
std::uint64_t gradient_copies(const BucketLayout& layout, const PlanReport& plan, const Job& job, int world) {
  const train::ReplicaSettings settings = train::replica_settings(job.options);
  if (settings.summation == train::Summation::kByTree) {
    const auto levels = static_cast<std::uint64_t>(std::bit_width(plan.slots_of_rank.front().size()) - 1);
    std::size_t largest = 0;
    for (const Bucket& bucket : layout.buckets) largest = std::max(largest, bucket.count);
    return levels * layout.count + largest;
  }
  const bool waits = train::update_time(settings) == UpdateTime::kAfterVote;
  return waits && world > 1 ? layout.count / static_cast<std::uint64_t>(world) : 0;
}

void add_memory(PlanReport& plan, const BucketLayout& layout, const Job& job, int world) {
  const std::uint64_t flat = layout.count * sizeof(float);
  const auto moments = static_cast<std::uint64_t>(num_moments(job.options.optimizer));
  const bool one_copy = copies_of(job, world) == Copies::kOne;
  plan.memory = {{one_copy ? fmt::format("parameters (1/{})", world) : std::string("parameters"),
                  flat / static_cast<std::uint64_t>(one_copy ? world : 1)},
                 {"gradients", flat + gradient_copies(layout, plan, job, world) * sizeof(float)},
                 {fmt::format("moments (1/{})", world), moments * flat / static_cast<std::uint64_t>(world)}};
}

}  // namespace

void show_plan(const JobOrder& order) {
  const Job job = make_job(order);
  train::check_options(job.options, order.world);
  const train::Frozen frozen(job.options, *job.model);
  const auto parameters = train::tensors_of(*job.model).parameters;
  const BucketLayout layout = layout_of(parameters, job, order.world);
  PlanReport plan{
      .data = job.data.facts.description,
      .model = job.config.model.kind,
      .update = optimizer_text(job.options.optimizer),
      .batch = static_cast<std::uint64_t>(job.options.batch_size.value_or(job.data.train->size())),
      .epochs = static_cast<std::uint64_t>(job.options.epochs),
      .run_directory = job.config.train.directory};
  for (const auto& named : parameters) plan.parameters += static_cast<std::uint64_t>(named.tensor.numel());
  const JobLength length = length_of(job.config.train, job.data.train->size());
  plan.steps_per_epoch = static_cast<std::uint64_t>(length.steps_per_epoch);
  plan.steps = static_cast<std::uint64_t>(length.steps);
  add_slots(plan, job, order.world);
  add_buckets(plan, layout, parameters);
  const Copies copies = copies_of(job, order.world);
  const Program program =
      data_parallel_program(plan.slots_of_rank.front(), static_cast<int>(layout.buckets.size()),
                            train::update_time(train::replica_settings(job.options)), copies);
  for (const Action& action : program) plan.program.push_back(action.text());
  const auto world = static_cast<std::uint64_t>(order.world);
  plan.bytes_per_step = (copies == Copies::kOne ? 1 : 2) * layout.count * sizeof(float) * (world - 1) / world;
  add_memory(plan, layout, job, order.world);
  const observe::Screen screen{.columns = order.terminal_columns.value_or(100)};
  std::cout << (order.json ? observe::plan_json(plan) : observe::plan_text(plan, screen));
}

}  // namespace cohort::tool
