#include "job.h"

#include "layout/batch_plan.h"
#include "layout/buckets.h"
#include "layout/program.h"
#include "observe/plan_report.h"
#include "train/bucket_set.h"
#include "train/gradient_intake.h"
#include "train/lanes.h"
#include "train/module_tensors.h"
#include "train/settings.h"

#include <cohort/link_settings.h>

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

train::Link link_of(const Job& job, const JobOrder& order) {
  const bool is_mpi = job.config.communication.backend == name(Backend::kMpi);
  return is_mpi || order.num_hosts > 1 ? train::Link::kMessages : train::Link::kSharedMemory;
}

Copies copies_of(const Job& job, const JobOrder& order) {
  const bool is_one =
      job.options.one_copy && order.world > 1 && link_of(job, order) == train::Link::kSharedMemory;
  return is_one ? Copies::kOne : Copies::kPerRank;
}

// Memory besides the gradients, in elements. With summation by tree, a copy for each level below the
// micro-batches of a rank, and one bucket per lane for the levels above. Otherwise the reduced slice, if the
// update waits for the vote; or, between hosts, one slice per lane.
std::uint64_t gradient_copies(const BucketLayout& layout, const PlanReport& plan, const Job& job,
                              const JobOrder& order) {
  const train::ReplicaSettings settings = train::replica_settings(job.options);
  const auto world = static_cast<std::uint64_t>(order.world);
  const auto lanes = static_cast<std::uint64_t>(plan.programs.front().num_lanes - 1);
  std::uint64_t largest = 0;
  for (const Bucket& bucket : layout.buckets) largest = std::max<std::uint64_t>(largest, bucket.count);
  if (settings.summation == train::Summation::kByTree) {
    const auto levels = static_cast<std::uint64_t>(std::bit_width(plan.slots_of_rank.front().size()) - 1);
    return levels * layout.count + lanes * largest;
  }
  if (world == 1) return 0;
  if (train::update_time(settings) == UpdateTime::kAfterVote) return layout.count / world;
  return link_of(job, order) == train::Link::kMessages ? lanes * largest / world : 0;
}

void add_programs(PlanReport& plan, const BucketLayout& layout, const Job& job, const JobOrder& order) {
  for (const std::vector<int>& micro_batches : plan.slots_of_rank) {
    plan.programs.push_back(
        data_parallel_program({.micro_batches = micro_batches,
                               .num_buckets = static_cast<int>(layout.buckets.size()),
                               .bucket_lanes = train::num_bucket_lanes(order.world, link_of(job, order)),
                               .update = train::update_time(train::replica_settings(job.options)),
                               .copies = copies_of(job, order)}));
  }
}

void add_memory(PlanReport& plan, const BucketLayout& layout, const Job& job, const JobOrder& order) {
  const int world = order.world;
  const std::uint64_t flat = layout.count * sizeof(float);
  const auto moments = static_cast<std::uint64_t>(num_moments(job.options.optimizer));
  const bool one_copy = copies_of(job, order) == Copies::kOne;
  plan.memory = {{one_copy ? fmt::format("parameters (1/{})", world) : std::string("parameters"),
                  flat / static_cast<std::uint64_t>(one_copy ? world : 1)},
                 {"gradients", flat + gradient_copies(layout, plan, job, order) * sizeof(float)},
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
  add_programs(plan, layout, job, order);
  const Copies copies = copies_of(job, order);
  const auto world = static_cast<std::uint64_t>(order.world);
  plan.bytes_per_step = (copies == Copies::kOne ? 1 : 2) * layout.count * sizeof(float) * (world - 1) / world;
  add_memory(plan, layout, job, order);
  const observe::Screen screen{.columns = order.terminal_columns.value_or(100)};
  std::cout << (order.json ? observe::plan_json(plan) : observe::plan_text(plan, screen));
}

}  // namespace cohort::tool
