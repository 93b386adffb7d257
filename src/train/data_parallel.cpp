#include <cohort/data_parallel.h>

#include "comm/communicator.h"
#include "comm/shared_memory/arena.h"
#include "tensor/scalar_type.h"
#include "train/arrival_order.h"
#include "train/bucket_set.h"
#include "train/gradient_hooks.h"
#include "train/initial_values.h"
#include "train/parameters.h"
#include "train/work_thread.h"
#include <cohort/context.h>
#include <cohort/tensor.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <map>
#include <torch/csrc/autograd/engine.h>
#include <torch/nn/module.h>

namespace cohort {
namespace {

using namespace train;

/// The mean gradients of the parameters of one type.
///
/// How a round goes: gradients arrive in the thread of backward and go to their buckets; full buckets are
/// averaged in order, on another thread; at the end of backward come the rest. A second round before
/// gradients were zeroed averages what is there, old mean and new gradient together: the mean of equal
/// numbers is the number.
class MeanGradients {
 public:
  MeanGradients(Communicator& group, Arena& arena, std::vector<at::Tensor> parameters,
                std::size_t bucket_bytes)
      : group_(group),
        bucket_bytes_(bucket_bytes),
        buckets_(arena, parameters, layout(parameters, expected_order(parameters.size()))),
        arrived_(parameters.size(), false) {
    begin();
  }

  /// Makes the bucket hold the gradient, wherever autograd has put it.
  void take(std::size_t p) {
    const at::Tensor& parameter = buckets_.parameters()[p];
    const at::Tensor gradient = parameter.grad();
    if (!gradient.defined()) return;
    const at::Tensor& home = buckets_.gradient(p);
    if (gradient.is_sparse() || gradient.data_ptr() != home.data_ptr()) {
      home.copy_(gradient.is_sparse() ? gradient.to_dense() : gradient);
      parameter.mutable_grad() = home.detach();
    }
  }

  void arrived(std::size_t p, WorkThread& thread) {
    take(p);
    if (!order_is_known_) observed_.push_back(p);
    if (arrived_[p]) return;
    arrived_[p] = true;
    for (const std::size_t bucket : buckets_.buckets_of(p)) --pending_[bucket];
    if (order_is_known_) give_full_buckets(thread);
  }

  /// The end of backward: what has not come does not come any more.
  void finish(WorkThread& thread) {
    for (std::size_t p = 0; p < arrived_.size(); ++p) {
      if (arrived_[p]) continue;
      take(p);  // what an earlier backward left
      if (!buckets_.parameters()[p].grad().defined()) buckets_.gradient(p).zero_();
    }
    for (; next_ < pending_.size(); ++next_) give(next_, thread);
    thread.drain();
    show();
    if (!order_is_known_) follow_observed_order();
    begin();
  }

 private:
  BucketLayout layout(const std::vector<at::Tensor>& parameters,
                      const std::vector<std::size_t>& order) const {
    const std::size_t element_bytes =
        parameters.empty() ? 4 : static_cast<std::size_t>(parameters.front().element_size());
    return layout_for(element_counts(parameters), order, group_.world(), bucket_bytes_ / element_bytes);
  }

  void begin() {
    std::fill(arrived_.begin(), arrived_.end(), false);
    pending_.clear();
    for (const Bucket& bucket : buckets_.layout().buckets) pending_.push_back(bucket.entries.size());
    next_ = 0;
  }

  void give_full_buckets(WorkThread& thread) {
    for (; next_ < pending_.size() && pending_[next_] == 0; ++next_) give(next_, thread);
  }

  void give(std::size_t index, WorkThread& thread) {
    thread.give([this, index] { average(buckets_.layout().buckets[index]); });
  }

  void average(const Bucket& bucket) {
    const at::NoGradGuard no_grad;
    const BucketSlice mine = slice_of(bucket, group_.rank(), group_.world());
    const Numbers slice = buckets_.gradients(bucket, mine);
    value_or_throw(group_.run(reduce_scatter(buckets_.gradients(bucket), slice)));
    at::from_blob(slice.data, {static_cast<std::int64_t>(slice.count)},
                  at::TensorOptions().dtype(scalar_type_of(slice.dtype)))
        .div_(group_.world());
    value_or_throw(group_.run(all_gather(slice, buckets_.gradients(bucket))));
  }

  // A parameter that any rank used has a gradient on all, one that nobody used has none.
  void show() {
    std::vector<std::uint8_t> used;
    for (const at::Tensor& parameter : buckets_.parameters())
      used.push_back(parameter.grad().defined() ? 1 : 0);
    value_or_throw(group_.run(all_reduce(std::span(used), ReduceOp::kMax)));
    for (std::size_t p = 0; p < used.size(); ++p) {
      const at::Tensor& parameter = buckets_.parameters()[p];
      if (used[p] != 0 && !parameter.grad().defined())
        parameter.mutable_grad() = buckets_.gradient(p).detach();
    }
  }

  void follow_observed_order() {
    order_is_known_ = true;
    const auto order = agreed_order(group_, std::exchange(observed_, {}), arrived_.size());
    if (order == expected_order(order.size())) return;
    buckets_.move_to(layout(buckets_.parameters(), order));
    for (std::size_t p = 0; p < arrived_.size(); ++p) {
      const at::Tensor& parameter = buckets_.parameters()[p];
      if (parameter.grad().defined()) parameter.mutable_grad() = buckets_.gradient(p).detach();
    }
  }

  Communicator& group_;
  const std::size_t bucket_bytes_;
  BucketSet buckets_;
  std::vector<bool> arrived_;
  std::vector<std::size_t> pending_;  // per bucket
  std::size_t next_ = 0;              // the bucket that is averaged next
  std::vector<std::size_t> observed_;
  bool order_is_known_ = false;
};

// Where a parameter went.
struct Place {
  std::size_t set;
  std::size_t number;
};

}  // namespace

struct DataParallel::Parts {
  Communicator& group;
  ModuleTensors tensors;
  std::vector<std::unique_ptr<MeanGradients>> sets{};  // one per type of numbers
  std::vector<Place> places{};
  WorkThread thread{};
  bool end_is_awaited = false;
  int accumulations = 0;
  std::unique_ptr<GradientHooks> hooks{};

  void sort_by_type(Arena& arena, std::size_t bucket_bytes);
  void arrived(std::size_t p);
  void finish();
  void average_buffers();
};

void DataParallel::Parts::sort_by_type(Arena& arena, std::size_t bucket_bytes) {
  std::map<DType, std::vector<at::Tensor>> by_type;
  std::map<DType, std::size_t> number_of;
  for (const NamedTensor& named : tensors.parameters) {
    by_type[dtype_of(named.tensor)].push_back(named.tensor);
  }
  for (auto& [dtype, parameters] : by_type) {
    number_of[dtype] = sets.size();
    sets.push_back(std::make_unique<MeanGradients>(group, arena, parameters, bucket_bytes));
  }
  std::vector<std::size_t> seen(sets.size(), 0);
  for (const NamedTensor& named : tensors.parameters) {
    const std::size_t set = number_of[dtype_of(named.tensor)];
    places.push_back({set, seen[set]++});
  }
}

void DataParallel::Parts::arrived(std::size_t p) {
  const Place place = places[p];
  if (accumulations > 0) return sets[place.set]->take(place.number);
  if (!end_is_awaited) {
    end_is_awaited = true;
    torch::autograd::Engine::get_default_engine().queue_callback([this] { finish(); });
  }
  sets[place.set]->arrived(place.number, thread);
}

void DataParallel::Parts::finish() {
  end_is_awaited = false;
  const at::NoGradGuard no_grad;
  for (const auto& set : sets) set->finish(thread);
  average_buffers();
}

void DataParallel::Parts::average_buffers() {
  for (const NamedTensor& named : tensors.buffers) {
    const at::Tensor whole = named.tensor.contiguous();
    value_or_throw(
        group.run(all_reduce({whole.data_ptr(), static_cast<std::size_t>(whole.numel()), dtype_of(whole)})));
    named.tensor.copy_(whole / group.world());
  }
}

DataParallel::DataParallel(Context& context, torch::nn::Module& module, const DataParallelOptions& options)
    : DataParallel(context.communicator(), context.arena(), module, options) {}

DataParallel::DataParallel(Communicator& group, Arena& arena, torch::nn::Module& module,
                           const DataParallelOptions& options)
    : parts_(new Parts{.group = group, .tensors = tensors_of(module)}) {
  const ModuleTensors& tensors = parts_->tensors;
  for (const auto* each : {&tensors.parameters, &tensors.frozen, &tensors.buffers, &tensors.counters}) {
    send_from_first(group, *each);
  }
  parts_->sort_by_type(arena, options.bucket_bytes);
  std::vector<at::Tensor> parameters;
  for (const NamedTensor& named : tensors.parameters) parameters.push_back(named.tensor);
  parts_->hooks = std::make_unique<GradientHooks>(
      parameters, [parts = parts_.get()](std::size_t p) { parts->arrived(p); });
}

DataParallel::~DataParallel() = default;

DataParallel::Accumulation::Accumulation(DataParallel& parallel) : parallel_(parallel) {
  ++parallel_.parts_->accumulations;
}

DataParallel::Accumulation::~Accumulation() {
  --parallel_.parts_->accumulations;
}

}  // namespace cohort
