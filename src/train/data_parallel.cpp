#include <cohort/data_parallel.h>

#include "comm/communicator.h"
#include "comm/shared_memory/arena.h"
#include "tensor/scalar_type.h"
#include "train/buffers.h"
#include "train/gradient_hooks.h"
#include "train/initial_values.h"
#include "train/mean_gradients.h"
#include "train/parameters.h"
#include "train/same_module.h"
#include "train/work_thread.h"
#include <cohort/context.h>
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
namespace {

using namespace train;

// Where a parameter went.
struct Place {
  std::size_t set;
  std::size_t number;
};

}  // namespace

struct DataParallel::Parts {
  const std::unique_ptr<Communicator> group;  // of its own: others may be averaging at the same time
  const ModuleTensors tensors;
  Buffers buffers{*group, tensors};
  std::vector<std::unique_ptr<MeanGradients>> sets{};  // one per type of numbers
  std::vector<Place> places{};
  std::unique_ptr<GradientPool> pool{};
  WorkThread thread{};
  bool round_failed = false;
  std::weak_ptr<Round> round{};
  int accumulations = 0;
  std::unique_ptr<GradientHooks> hooks{};

  void sort_by_type(Arena& arena, std::size_t bucket_bytes);
  void make_pool(Arena& arena);
  void arrived(std::size_t p);
  std::shared_ptr<Round> begin_round();
  void finish();
};

/// From the first gradient of a backward to its end. Held by the backward, so that one that fails is noticed.
///
/// Large gradients after the first are computed in the pool: torch does not say that a backward begins.
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
  std::optional<GradientPool::Use> use_;
  bool is_over_ = false;
};

// The types in turn, that with the most bytes first: its buckets alone are averaged before the end of
// backward. With those of others in between, ranks that do not use the same parameters would average in
// different orders.
void DataParallel::Parts::sort_by_type(Arena& arena, std::size_t bucket_bytes) {
  std::map<DType, std::vector<NamedTensor>> by_type;
  std::map<DType, std::size_t> sizes;
  for (const NamedTensor& named : tensors.parameters) {
    by_type[dtype_of(named.tensor)].push_back(named);
    sizes[dtype_of(named.tensor)] += named.tensor.nbytes();
  }
  std::vector<DType> order;
  for (const auto& [dtype, size] : sizes) order.push_back(dtype);
  std::stable_sort(order.begin(), order.end(), [&](DType a, DType b) { return sizes[a] > sizes[b]; });
  std::map<DType, std::size_t> number_of;
  for (const DType dtype : order) {
    number_of[dtype] = sets.size();
    sets.push_back(std::make_unique<MeanGradients>(*group, arena, by_type[dtype], bucket_bytes));
    if (sets.size() > 1) sets.back()->wait_for_the_end();
  }
  std::vector<std::size_t> seen(sets.size(), 0);
  for (const NamedTensor& named : tensors.parameters) {
    const std::size_t set = number_of[dtype_of(named.tensor)];
    places.push_back({set, seen[set]++});
  }
}

void DataParallel::Parts::make_pool(Arena& arena) {
  std::set<std::size_t> sizes;
  for (const auto& set : sets) sizes.merge(set->pooled_sizes());
  if (sizes.empty()) return;
  pool = std::make_unique<GradientPool>(arena, std::move(sizes), 0);
  for (const auto& set : sets) set->use(pool.get());
}

void DataParallel::Parts::arrived(std::size_t p) {
  const at::NoGradGuard no_grad;  // backward(create_graph) comes with gradients
  const Place place = places[p];
  if (accumulations > 0) return sets[place.set]->take(place.number);
  std::shared_ptr<Round> current = round.lock();
  if (current == nullptr) current = begin_round();
  sets[place.set]->arrived(place.number, thread);
}

std::shared_ptr<DataParallel::Round> DataParallel::Parts::begin_round() {
  if (round_failed) {
    raise(
        Error(ErrorCode::kAborted, "an earlier backward failed, and ranks may have come to different points")
            .with_remedy("Make a new DataParallel, in a world that has not failed."));
  }
  const auto fresh = std::make_shared<Round>(*this);
  round = fresh;
  torch::autograd::Engine::get_default_engine().queue_callback([fresh] { fresh->finish(); });
  return fresh;
}

void DataParallel::Parts::finish() {
  const at::NoGradGuard no_grad;
  for (const auto& set : sets) set->finish(thread);
  round.reset();
  buffers.open();
  buffers.slot_done(1);
  buffers.merge();
}

DataParallel::DataParallel(Context& context, torch::nn::Module& module, const DataParallelOptions& options)
    : DataParallel(context.communicator(), context.arena(), module, options) {}

DataParallel::DataParallel(Communicator& group, Arena& arena, torch::nn::Module& module,
                           const DataParallelOptions& options)
    : parts_(new Parts{.group = value_or_throw(group.split(0, group.rank(), "data parallel")),
                       .tensors = tensors_of(module)}) {
  const ModuleTensors& tensors = parts_->tensors;
  check_same_module(*parts_->group, tensors);
  for (const auto* each : {&tensors.parameters, &tensors.frozen, &tensors.buffers, &tensors.counters}) {
    send_from_first(*parts_->group, *each);
  }
  if (group.world() == 1 || tensors.parameters.empty()) return;  // the mean of one, or of none
  parts_->sort_by_type(arena, options.bucket_bytes);
  parts_->make_pool(arena);
  parts_->hooks = std::make_unique<GradientHooks>(
      plain(tensors.parameters), [parts = parts_.get()](std::size_t p) { parts->arrived(p); });
}

DataParallel::~DataParallel() = default;

DataParallel::Accumulation::Accumulation(DataParallel& parallel) : parallel_(parallel) {
  ++parallel_.parts_->accumulations;
}

DataParallel::Accumulation::~Accumulation() {
  --parallel_.parts_->accumulations;
}

}  // namespace cohort
