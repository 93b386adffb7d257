#include <cohort/data_parallel.h>

#include "base/checksum.h"
#include "base/home_process.h"
#include "comm/group/communicator.h"
#include "comm/group/rank_text.h"
#include "comm/shared_memory/arena.h"
#include "nn/synchronised_layers.h"
#include "reduce/company.h"
#include "tensor/scalar_type.h"
#include "train/abort.h"
#include "train/bucket_order.h"
#include "train/buffers.h"
#include "train/mean_gradients.h"
#include "train/module_changes.h"
#include "train/module_tensors.h"
#include "train/same_on_all.h"
#include "train/work_thread.h"
#include <cohort/group.h>
#include <cohort/tensor.h>

#include <ATen/ATen.h>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <torch/csrc/autograd/engine.h>
#include <torch/nn/module.h>

namespace cohort {

struct DataParallel::Parts {
  std::shared_ptr<void> keeps{};  // before the rest, to be destroyed after it; may be null
  Company groups;                 // not shared: other code may use the caller's group meanwhile
  const train::ModuleTensors tensors;
  const train::ModuleChanges changes;
  const std::optional<std::int64_t> hash_every;
  std::unique_ptr<nn::SynchronisedLayers> layers{};
  train::Buffers buffers{groups.all(), tensors};
  std::vector<std::unique_ptr<train::MeanGradients>> sets{};  // one per element type
  std::unique_ptr<train::GradientPool> pool{};
  train::WorkThread thread{};
  std::unique_ptr<train::GradientHooks> frozen_hooks{};
  std::int64_t num_rounds = 0;
  bool round_failed = false;
  std::weak_ptr<Round> round{};
  int accumulations = 0;
  HomeProcess home{};

  void sort_by_type(Arena& arena, std::size_t bucket_bytes);
  void make_pool(Arena& arena);
  void watch_frozen();
  void check_module();
  bool join_round();
  void begin_round();
  void finish();
  void compare_replicas();
};

/// Lasts from the first gradient of a backward to its end. Autograd holds it as a callback of that backward:
/// destroyed without a finish(), it tells that the backward failed.
///
/// The pool is used from the first gradient on: torch does not say that a backward begins.
class DataParallel::Round {
 public:
  explicit Round(Parts& parts) : parts_(parts) {
    if (parts.sets.front()->order_is_known()) use_.emplace(parts.pool.get());
  }
  ~Round() { parts_.round_failed = parts_.round_failed || !is_over_; }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  void finish() {
    use_.reset();
    parts_.finish();
    is_over_ = true;
  }

 private:
  Parts& parts_;
  std::optional<train::GradientPool::Use> use_;
  bool is_over_ = false;
};

// The element type with the most bytes comes first, and only its buckets are averaged before the end of
// backward. If buckets of several types were, ranks that use different parameters would average them in
// different orders.
void DataParallel::Parts::sort_by_type(Arena& arena, std::size_t bucket_bytes) {
  std::map<DType, std::vector<train::NamedTensor>> by_type;
  std::map<DType, std::size_t> sizes;
  for (const train::NamedTensor& named : tensors.parameters) {
    by_type[dtype_of(named.tensor)].push_back(named);
    sizes[dtype_of(named.tensor)] += named.tensor.nbytes();
  }
  std::vector<DType> order;
  for (const auto& [dtype, size] : sizes) order.push_back(dtype);
  std::stable_sort(order.begin(), order.end(), [&](DType a, DType b) { return sizes[a] > sizes[b]; });
  for (const DType dtype : order) {
    const train::ReportFull report =
        sets.empty() ? train::ReportFull::kDuringBackward : train::ReportFull::kAtEnd;
    sets.push_back(std::make_unique<train::MeanGradients>(
        groups, arena, by_type[dtype], bucket_bytes,
        train::AveragingRound{thread, [this] { return join_round(); }}, report));
  }
}

void DataParallel::Parts::make_pool(Arena& arena) {
  std::set<std::size_t> sizes;
  for (const auto& set : sets) sizes.merge(set->pooled_sizes());
  if (sizes.empty()) return;
  pool = std::make_unique<train::GradientPool>(arena, std::move(sizes), 0);
  for (const auto& set : sets) set->use(pool.get());
}

// A frozen parameter that gets a gradient after all is not known to any bucket.
void DataParallel::Parts::watch_frozen() {
  frozen_hooks = std::make_unique<train::GradientHooks>(train::plain(tensors.frozen),
                                                        [this](std::size_t) { check_module(); });
}

void DataParallel::Parts::check_module() {
  train::or_abort(groups, [this] { changes.check(); });
}

bool DataParallel::Parts::join_round() {
  if (accumulations > 0) return false;
  if (round.expired()) begin_round();
  return true;
}

void DataParallel::Parts::begin_round() {
  if (round_failed) {
    raise(
        Error(ErrorCode::kAborted, "an earlier backward failed, and ranks may have come to different points")
            .with_remedy("Make a new DataParallel, in a new Context."));
  }
  const auto fresh = std::make_shared<Round>(*this);
  round = fresh;
  torch::autograd::Engine::get_default_engine().queue_callback([fresh] { fresh->finish(); });
}

void DataParallel::Parts::finish() {
  const at::NoGradGuard no_grad;
  check_module();
  for (const auto& set : sets) set->finish();
  round.reset();
  buffers.open();
  buffers.slot_done(1);
  buffers.merge();
  ++num_rounds;
  if (hash_every && (num_rounds == 2 || num_rounds % *hash_every == 0)) compare_replicas();
}

void DataParallel::Parts::compare_replicas() {
  std::uint64_t hash = 0;
  for (const train::NamedTensor& named : tensors.parameters) {
    const at::Tensor whole = named.tensor.detach().contiguous();
    hash = content_hash({static_cast<const std::byte*>(whole.const_data_ptr()), whole.nbytes()}, hash);
  }
  const std::vector<int> ranks = train::deviating_ranks(groups.all(), hash);
  if (ranks.empty()) return;
  raise(Error(ErrorCode::kCorrupt,
              fmt::format("before step {} the parameters of {} differ from those of the others", num_rounds,
                          comm::ranks_text(ranks)))
            .with_remedy(
                "Give every rank the same optimizer with the same settings and state "
                "(cohort::broadcast_state() copies rank 0's), and change parameters on all ranks alike."));
}

DataParallel::DataParallel(Group& group, torch::nn::Module& module, const DataParallelOptions& options)
    : DataParallel(group.communicator(), group.arena(), module, options) {
  parts_->keeps = group.hold();
}

DataParallel::DataParallel(Communicator& group, Arena& arena, torch::nn::Module& module,
                           const DataParallelOptions& options)
    : parts_(new Parts{.groups = {group, "data parallel", NearGroups::kByHost},
                       .tensors = train::tensors_of(module),
                       .changes = {module, train::tensors_of(module)},
                       .hash_every = options.hash_every}) {
  const train::ModuleTensors& tensors = parts_->tensors;
  Communicator& all = parts_->groups.all();
  train::or_abort(parts_->groups, [&] {
    train::check_same_module(all, tensors);
    train::check_same_layers(all, module);
  });
  parts_->layers = std::make_unique<nn::SynchronisedLayers>(all, module);
  for (const auto* each : {&tensors.parameters, &tensors.frozen, &tensors.buffers, &tensors.counters}) {
    train::send_from_first(all, *each);
  }
  if (group.size() == 1) return;  // there is nothing to average
  parts_->watch_frozen();
  if (tensors.parameters.empty()) return;
  parts_->sort_by_type(arena, options.bucket_bytes);
  parts_->make_pool(arena);
}

std::vector<std::int64_t> train::bucket_order(const DataParallel& parallel) {
  std::vector<std::int64_t> all;
  for (const auto& set : parallel.parts_->sets) {
    all.insert(all.end(), set->bucket_order().begin(), set->bucket_order().end());
  }
  return all;
}

void train::set_bucket_order(DataParallel& parallel, const std::vector<std::int64_t>& order) {
  std::size_t first = 0;
  for (const auto& set : parallel.parts_->sets) {
    const std::size_t count = set->bucket_order().size();
    const auto part = std::span(order).subspan(first, std::min(count, order.size() - first));
    if (!is_order_of(part, count)) break;
    set->set_bucket_order({part.begin(), part.end()});
    first += count;
  }
  const bool is_alone = parallel.parts_->sets.empty();  // there are no buckets
  if (first == order.size() || is_alone) return;
  throw UsageError(UsageError(fmt::format("the snapshot has an order of {} parameters, and this module {}",
                                          order.size(), first))
                       .with_remedy("Go on with the same module."));
}

DataParallel::~DataParallel() {
  if (!parts_->home.is_here()) (void)parts_.release();
}

DataParallel::Accumulation::Accumulation(DataParallel& parallel) : parallel_(parallel) {
  ++parallel_.parts_->accumulations;
}

DataParallel::Accumulation::~Accumulation() {
  --parallel_.parts_->accumulations;
}

}  // namespace cohort
