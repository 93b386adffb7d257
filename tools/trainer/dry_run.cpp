#include "job.h"

#include "layout/batch_plan.h"
#include "layout/buckets.h"
#include "layout/program.h"
#include "observe/plan_report.h"
#include "reduce/lanes.h"
#include "solve/settings_table.h"
#include "train/bucket_set.h"
#include "train/gradient_intake.h"
#include "train/masks.h"
#include "train/module_tensors.h"
#include "train/narrow_parameters.h"
#include "train/settings.h"
#include "train/sync_plan.h"

#include <cohort/link_settings.h>

#include <bit>
#include <fmt/format.h>
#include <iostream>

namespace cohort::tool {
namespace {

using observe::PlanReport;

// `sgd with momentum 0.9, learning rate 0.02`
std::string optimizer_text(const OptimizerSettings& given) {
  const OptimizerSettings settings = with_defaults(given);
  std::string text(name(settings.kind));
  if (settings.momentum.value_or(0) > 0) {
    text += fmt::format(" with {}momentum {}", settings.nesterov.value_or(false) ? "Nesterov " : "",
                        *settings.momentum);
  }
  return fmt::format("{}, learning rate {}", text, *settings.learning_rate);
}

// `lbfgs with a history of 10, all samples in each step`
std::string solver_text(const SolverSettings& settings) {
  const bool has_history = settings.kind != SolverKind::kGaussNewton;
  const std::string history = has_history ? fmt::format(" with a history of {}", settings.history_size) : "";
  return fmt::format("{}{}, all samples in each step", name(settings.kind), history);
}

void add_slots(PlanReport& plan, const Job& job, int world) {
  const bool is_together = job.config.model.batch_norm == "synchronised" && world > 1;
  const train::Turns turns = is_together ? train::Turns::kTogether : train::Turns::kOwn;
  for (int rank = 0; rank < world; ++rank) {
    plan.slots_of_rank.push_back(train::turns_of(job.options, world, rank, turns));
  }
}

BucketLayout layout_of(const std::vector<train::NamedTensor>& parameters, const Job& job,
                       const train::SyncPlan& sync, int world) {
  std::vector<std::size_t> counts;
  for (const auto& named : parameters) counts.push_back(static_cast<std::size_t>(named.tensor.numel()));
  return layout_by_part(counts, train::expected_order(counts.size()), sync.part_of, world,
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

// The ranks by host, as the trainer will find them; ranks share no memory by MPI, or by an algorithm of
// messages.
HostGrid grid_of(const Job& job, const train::SyncPlan& sync, const JobOrder& order) {
  std::vector<int> hosts;
  const bool is_mpi = job.config.communication.backend == name(Backend::kMpi);
  if (!is_mpi && !job.config.communication.algorithm) {
    for (std::size_t host = 0; host < order.host_ranks.size(); ++host) {
      hosts.insert(hosts.end(), static_cast<std::size_t>(order.host_ranks[host]), static_cast<int>(host));
    }
  }
  return company_grid(hosts, 0, order.world, sync.near_groups());
}

Copies copies_of(const Job& job, const HostGrid& grid) {
  if (!job.options.one_copy || grid.per_host == 1) return Copies::kPerRank;
  return grid.num_hosts == 1 ? Copies::kOne : Copies::kPerHost;
}

// Memory besides the gradients, in elements. With summation by tree, a copy for each level below the
// micro-batches of a rank, and one bucket per lane for the levels above. Otherwise the reduced slice, if the
// update waits for the vote; or, between hosts, one slice per lane. On several hosts with several ranks each,
// also the sums inside the host, per lane.
std::uint64_t gradient_copies(const BucketLayout& layout, const PlanReport& plan, const Job& job,
                              const HostGrid& grid) {
  const train::ReplicaSettings settings = train::replica_settings(job.options);
  const auto world = static_cast<std::uint64_t>(grid.num_shards());
  const auto lanes = static_cast<std::uint64_t>(plan.programs.front().num_lanes - 1);
  std::uint64_t largest = 0;
  for (const Bucket& bucket : layout.buckets) largest = std::max<std::uint64_t>(largest, bucket.count);
  if (settings.summation == Summation::kByTree) {
    const auto levels = static_cast<std::uint64_t>(std::bit_width(plan.slots_of_rank.front().size()) - 1);
    return levels * layout.count + (world > 1 ? lanes * largest : 0);
  }
  if (world == 1) return 0;
  const bool is_grid = grid.num_hosts > 1 && grid.per_host > 1;
  const std::uint64_t near_sums = is_grid ? lanes * largest / static_cast<std::uint64_t>(grid.per_host) : 0;
  if (train::update_time(settings) == UpdateTime::kAfterVote) return near_sums + layout.count / world;
  return near_sums + (grid.num_hosts > 1 ? lanes * largest / world : 0);
}

void add_programs(PlanReport& plan, const BucketLayout& layout, const Job& job, const train::SyncPlan& sync,
                  const HostGrid& grid) {
  const auto updates = train::updates_of(job.options, *job.model);
  for (const std::vector<int>& micro_batches : plan.slots_of_rank) {
    plan.programs.push_back(
        data_parallel_program({.micro_batches = micro_batches,
                               .num_buckets = static_cast<int>(layout.buckets.size()),
                               .bucket_lanes = num_bucket_lanes(grid),
                               .update = train::update_time(train::replica_settings(job.options)),
                               .copies = copies_of(job, grid),
                               .two_passes = train::two_pass_buckets(layout, updates),
                               .actions = sync.actions(layout)}));
  }
}

// The bytes of all parameters, of the f32 copies of those in bf16, and of masks.
struct ParameterBytes {
  std::uint64_t values = 0;
  std::uint64_t masters = 0;
  std::uint64_t masks = 0;
};

ParameterBytes bytes_of(const BucketLayout& layout, const std::vector<train::NamedTensor>& parameters) {
  ParameterBytes bytes{.values = train::value_firsts(layout, train::plain(parameters)).back()};
  for (const Bucket& bucket : layout.buckets) {
    const at::Tensor& first = parameters[bucket.entries.front().parameter].tensor;
    if (first.scalar_type() == at::kBFloat16) bytes.masters += bucket.count * sizeof(float);
  }
  return bytes;
}

void add_memory(PlanReport& plan, const BucketLayout& layout, const Job& job, const HostGrid& grid,
                const ParameterBytes& bytes) {
  const int world = grid.num_shards();
  const std::uint64_t flat = layout.count * sizeof(float);
  const auto moments = static_cast<std::uint64_t>(num_moments(job.options.optimizer));
  const int sharers = copies_of(job, grid) == Copies::kPerRank ? 1 : grid.per_host;
  plan.memory = {{sharers > 1 ? fmt::format("parameters (1/{})", sharers) : std::string("parameters"),
                  bytes.values / static_cast<std::uint64_t>(sharers)},
                 {"gradients", flat + gradient_copies(layout, plan, job, grid) * sizeof(float)},
                 {fmt::format("moments (1/{})", world), moments * flat / static_cast<std::uint64_t>(world)}};
  const auto add_slice = [&](const std::string& what, std::uint64_t whole) {
    if (whole > 0) {
      plan.memory.push_back(
          {fmt::format("{} (1/{})", what, world), whole / static_cast<std::uint64_t>(world)});
    }
  };
  add_slice("f32 copies of parameters", bytes.masters);
  add_slice("averages", job.options.average.kind != AverageKind::kNone ? flat : 0);
  add_slice("masks", bytes.masks);
}

// The bytes that a rank passes on to others: those of its host, for the sums of near ranks, and those of
// other hosts, for sums and gathered parameters.
std::uint64_t bytes_per_step(const BucketLayout& layout, const Job& job, const HostGrid& grid,
                             const ParameterBytes& bytes) {
  const std::uint64_t gradients = layout.count * sizeof(float);
  const std::uint64_t divisor = job.config.communication.wire == WireDType::kSame ? 1 : 2;
  const auto near = static_cast<std::uint64_t>(grid.per_host),
             far = static_cast<std::uint64_t>(grid.num_hosts);
  const auto inside = [&](std::uint64_t all) { return all * (near - 1) / near; };
  const auto across = [&](std::uint64_t all) { return all / near * (far - 1) / far; };
  return inside(gradients) + (copies_of(job, grid) == Copies::kPerRank ? inside(bytes.values) : 0) +
         across(gradients / divisor) + across(bytes.values);
}

void add_step(PlanReport& plan, const Job& job, const BucketLayout& layout,
              const std::vector<train::NamedTensor>& parameters, const HostGrid& grid,
              const train::SyncPlan& sync) {
  add_buckets(plan, layout, parameters);
  add_programs(plan, layout, job, sync, grid);
  ParameterBytes bytes = bytes_of(layout, parameters);
  for (const auto& mask : train::masks_of(train::tensors_of(*job.model), job.options.mask)) {
    bytes.masks += mask.size() * sizeof(float);
  }
  plan.bytes_per_step = bytes_per_step(layout, job, grid, bytes);
  add_memory(plan, layout, job, grid, bytes);
}

// With a solver there are no buckets and no program. Memory is that of ParameterVector and of the solver; an
// evaluation sends the gradient and the parameters once.
void add_solver(PlanReport& plan, const Job& job, const std::vector<train::NamedTensor>& parameters,
                int world) {
  std::uint64_t count = 0;
  for (const auto& named : parameters) count += static_cast<std::uint64_t>(named.tensor.numel());
  const std::uint64_t vector = count * sizeof(float);
  const auto vectors = static_cast<std::uint64_t>(num_vectors(*job.options.solver));
  const auto ranks = static_cast<std::uint64_t>(world);
  plan.update = solver_text(*job.options.solver);
  plan.batch = static_cast<std::uint64_t>(job.data.train->size());
  plan.memory = {{"parameters", 2 * vector},
                 {"sum of gradients, in f64", 2 * vector},
                 {fmt::format("vectors of the solver (1/{})", world), vectors * vector / ranks}};
  plan.bytes_per_step = 2 * vector * (ranks - 1) / ranks;
}

}  // namespace

void show_plan(const JobOrder& order) {
  const Job job = make_job(order);
  train::check_options(job.options, order.world);
  const train::Frozen frozen(job.options, *job.model);
  if (job.options.precision.parameters == DType::kBF16) {
    train::narrow_parameters(train::tensors_of(*job.model));
  }
  const auto parameters = train::tensors_of(*job.model).parameters;
  const train::SyncPlan sync = train::sync_plan(job.options, *job.model);
  const BucketLayout layout = layout_of(parameters, job, sync, order.world);
  PlanReport plan{
      .data = job.data.facts.description,
      .model = job.config.model.kind,
      .update = optimizer_text(job.options.optimizer),
      .batch = static_cast<std::uint64_t>(job.options.batch_size.value_or(job.data.train->size())),
      .epochs = static_cast<std::uint64_t>(job.options.epochs),
      .run_directory = job.config.train.directory};
  for (const auto& named : parameters) plan.parameters += static_cast<std::uint64_t>(named.tensor.numel());
  const JobLength length = length_of(job.config, job.data.train->size());
  plan.steps_per_epoch = static_cast<std::uint64_t>(length.steps_per_epoch);
  plan.steps = static_cast<std::uint64_t>(length.steps);
  add_slots(plan, job, order.world);
  if (job.options.solver) {
    add_solver(plan, job, parameters, order.world);
  } else {
    add_step(plan, job, layout, parameters, grid_of(job, sync, order), sync);
  }
  const observe::Screen screen{.columns = order.terminal_columns.value_or(100)};
  std::cout << (order.json ? observe::plan_json(plan) : observe::plan_text(plan, screen));
}

}  // namespace cohort::tool
