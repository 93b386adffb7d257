#pragma once

#include "comm/group/communicator.h"
#include "train/bucket_set.h"
#include "train/gradient_hooks.h"

#include <ATen/core/Tensor.h>
#include <cstddef>
#include <optional>
#include <vector>

namespace cohort::train {

/// The order in which gradients are expected before a round has shown it: the reverse of the order in which
/// parameters were registered.
std::vector<std::size_t> expected_order(std::size_t num_parameters);

/// How a gradient relates to earlier gradients of the same parameter.
enum class Arrival {
  kFirst,         ///< the first of the round
  kNextBackward,  ///< an earlier backward of the round brought one: the two are added
  kNextPart,      ///< this backward brought a part already, and may still read that part's memory
  kLatePart,      ///< as kNextPart, after the parameter's buckets were reported full
};

/// Stores the gradients that a GradientIntake receives. Called on the threads that call backward, one call at
/// a time; an exception comes out of backward().
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  /// False if a backward that is going on does not belong to a round: the gradient stays at its parameter.
  virtual bool accepts(std::size_t parameter) = 0;
  /// Stores a dense gradient that was taken off its parameter.
  virtual void store(std::size_t parameter, at::Tensor gradient, Arrival arrival) = 0;
  /// All gradients of the bucket are stored. Buckets become full in ascending order.
  virtual void full(std::size_t bucket) = 0;
};

/// When buckets are reported full.
enum class ReportFull {
  kDuringBackward,  ///< as soon as the last gradient has arrived, from the second round on
  kAtEnd,           ///< by end_round() only
};

/// Receives the gradients of parameters from autograd, and says which buckets are complete.
///
/// A round is one or more backwards that together make the gradients of one step. The first round reports no
/// bucket before its end: it records in which order gradients arrive, and learn_order() hands that order out,
/// so that later rounds can reduce full buckets while backward goes on. A backward inside of backward, as of
/// layers that are computed again, may bring a gradient in several parts. A parameter that was seen to do so
/// is waited for until the end of the round.
///
/// Threads: gradients arrive on the threads that call backward; the other methods are not called meanwhile.
/// Lifetime: buckets and sink must outlive it. Once it is gone, backward keeps gradients at their parameters.
/// Failure: learn_order() throws what the group reports.
class GradientIntake {
 public:
  GradientIntake(const BucketSet& buckets, GradientSink& sink, ReportFull report);

  /// No gradient of the round has arrived.
  void begin_round();
  /// The next backward of the round begins; others follow it.
  void begin_backward();
  /// No other backward follows the one that is going on, or is about to begin: buckets may become full.
  void expect_last();
  /// The last backward is over: reports the buckets that are not full yet.
  void end_round();

  /// In this round.
  bool has_arrived(std::size_t parameter) const { return in_round_[parameter]; }
  bool order_is_known() const { return order_is_known_; }
  /// After the first round, on all ranks together: the order in which gradients arrived on rank 0, if it is
  /// not the expected order. The last part of a gradient counts; parameters without a gradient come last.
  std::optional<std::vector<std::size_t>> learn_order(Communicator& group);
  /// Whatever the first round shows, the buckets keep the order that they have.
  void keep_order() { keeps_order_ = true; }

 private:
  void arrived(std::size_t parameter);
  Arrival kind_of(std::size_t parameter) const;
  void count(std::size_t parameter);

  const BucketSet& buckets_;
  GradientSink& sink_;
  const ReportFull report_;
  std::vector<bool> in_round_;     // parameters whose gradient has arrived
  std::vector<bool> in_backward_;  // the same, by the backward that is going on
  std::vector<bool> comes_in_parts_;
  std::vector<std::size_t> pending_;  // per bucket: parameters whose gradient has not arrived
  std::size_t num_full_ = 0;          // the buckets before this one were reported
  bool is_last_ = false;
  bool order_is_known_ = false;
  bool keeps_order_ = false;
  std::vector<std::size_t> observed_;  // parameters as they arrived in the first round
  GradientHooks hooks_;
};

}  // namespace cohort::train
