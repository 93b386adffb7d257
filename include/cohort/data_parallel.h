#pragma once

#include <cohort/export.h>

#include <cstddef>
#include <memory>

namespace torch::nn {
class Module;
}

namespace cohort {

class Arena;
class Communicator;
class Context;

struct DataParallelOptions {
  std::size_t bucket_bytes = std::size_t{4} << 20;  ///< gradients are averaged in pieces of about this size
};

/// Makes a training loop of one process one of many: after backward(), every rank has the mean of all ranks'
/// gradients.
///
///     cohort::Context context;
///     auto net = std::make_shared<Net>();
///     cohort::DataParallel parallel(context, *net);      // the added line
///     …
///     optimizer.zero_grad();
///     loss.backward();
///     optimizer.step();
///
/// It starts with rank 0's parameters and buffers on all ranks. Gradients are averaged while backward goes
/// on, and a parameter may have none until it returns; then they may be read, clipped, changed. A parameter
/// that no rank used keeps no gradient, so that an optimizer leaves it alone. Running means of batch norms
/// and the like are averaged, too.
///
/// Threads: backward() from one thread at a time.
/// Lifetime: context and module must outlive it. Gradients lie in memory shared with the other ranks: the
/// next backward writes there, and they are gone when it is. Clone what you want to keep. Failure: backward()
/// throws Error: kPeerLost names the rank that is gone, kTimedOut the one that has not arrived. Every rank
/// must call backward() as often as the others: a batch that one leaves out, because its backward threw or
/// for another reason, all must leave out. After a backward that threw when gradients had come already, none
/// is possible any more. Gradients have no graph, even with create_graph.
class COHORT_EXPORT DataParallel {
 public:
  DataParallel(Context& context, torch::nn::Module& module, const DataParallelOptions& options = {});
  DataParallel(Communicator& group, Arena& arena, torch::nn::Module& module,
               const DataParallelOptions& options = {});
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// While it lives, backward() only adds up this rank's own gradients; the first backward() after it
  /// averages them all.
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
  struct Parts;
  class Round;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cohort
