#pragma once

#include <cohort/export.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace torch::nn {
class Module;
}

namespace cohort {

class Arena;
class Communicator;
class DataParallel;
class Group;

namespace train {
std::vector<std::int64_t> bucket_order(const DataParallel& parallel);
void set_bucket_order(DataParallel& parallel, const std::vector<std::int64_t>& order);
}  // namespace train

struct DataParallelOptions {
  /// Gradients are all-reduced in buckets of about this size, as `bucket_cap_mb` of PyTorch's DDP.
  std::size_t bucket_bytes = std::size_t{4} << 20;
  /// The number of backwards between comparisons of the ranks' parameters; nullopt: never. The second
  /// backward compares them as well.
  std::optional<std::int64_t> hash_every = 100;
};

/// Data-parallel training for a training loop of your own, as DistributedDataParallel in PyTorch: after
/// backward(), the gradients on every rank are the mean over all ranks.
///
///     cohort::Context context;
///     auto net = std::make_shared<Net>();
///     cohort::DataParallel parallel(context, *net);      // the added line
///     …
///     optimizer.zero_grad();
///     loss.backward();
///     optimizer.step();
///
/// The constructor broadcasts rank 0's parameters and buffers. Gradients are averaged while backward() still
/// runs; until it returns, the `grad` of a parameter may be undefined. After it has returned they may be
/// read, clipped and changed. The gradient of a parameter that no rank used stays undefined, so that
/// optimizers skip the parameter. Floating-point buffers, such as the running means of batch norm, are
/// averaged as well. SyncBatchNorm layers of the module (<cohort/batch_norm.h>) get the group.
///
/// The parameters may get other values meanwhile, as by torch::load(). After any other change of the module
/// (Module::to() another type, a parameter that is added, replaced or unfrozen) make a new DataParallel:
/// until then backward() throws UsageError that names the parameter.
///
/// Threads: backward() from one thread at a time.
/// Lifetime: the module must outlive this object, which keeps what it needs of its group alive. Gradients
/// lie in memory shared with other ranks: the next backward() overwrites them, and the destructor frees them.
/// Clone a gradient to keep it.
/// Failure: backward() throws Error: kPeerLost names the lost rank, kTimedOut the rank that has not arrived.
/// All ranks must call backward() equally often: if one rank skips a batch, for instance because its forward
/// or backward threw, all must skip it. kCorrupt names ranks whose parameters differ from those of the
/// others. If backward() threw after the first gradients had arrived, every later backward() throws.
/// Gradients carry no autograd graph, even with create_graph.
class COHORT_EXPORT DataParallel {
 public:
  DataParallel(Group& group, torch::nn::Module& module, const DataParallelOptions& options = {});
  DataParallel(Communicator& group, Arena& arena, torch::nn::Module& module,
               const DataParallelOptions& options = {});
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// Gradient accumulation, as `no_sync()` of PyTorch's DDP: while this object lives, backward() adds up the
  /// rank's own gradients without communication. The first backward() afterwards averages the sums.
  class COHORT_EXPORT Accumulation {
   public:
    explicit Accumulation(DataParallel& parallel);
    ~Accumulation();
    Accumulation(const Accumulation&) = delete;
    Accumulation& operator=(const Accumulation&) = delete;

   private:
    DataParallel& parallel_;
  };
  [[nodiscard]] Accumulation accumulate() { return Accumulation(*this); }

 private:
  friend std::vector<std::int64_t> train::bucket_order(const DataParallel& parallel);
  friend void train::set_bucket_order(DataParallel& parallel, const std::vector<std::int64_t>& order);
  struct Parts;
  class Round;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort
