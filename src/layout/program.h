#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cohort {

/// What an action does. Those of a bucket run beside those of the slots.
enum class Verb {
  kLoad,      ///< the batch of a slot is fetched
  kForward,   ///< its loss
  kBackward,  ///< its gradients
  kFill,      ///< the gradients of a bucket are complete: said by backward, done by nobody
  kReduce,    ///< the ranks' gradients of a bucket become one; each rank holds its slice
  kVote,      ///< the ranks agree what becomes of the step
  kUpdate,    ///< the parameters of this rank's slice of a bucket change
  kApply,     ///< reduce and update in one pass over memory
  kGather,    ///< every rank gets the others' slices
  kMeet,      ///< nobody goes on before all have updated
};
std::string_view name(Verb verb);

/// Which of the two rows of actions, that run beside each other, one belongs to.
enum class Lane { kSlots, kBuckets };

struct Action {
  Verb verb = Verb::kLoad;
  int slot = 0;    ///< of load, forward, backward
  int bucket = 0;  ///< of fill, reduce, update, apply, gather
  std::vector<std::size_t>
      after{};  ///< actions that must be over before, besides those before it in its lane

  Lane lane() const {
    const bool of_slots =
        verb == Verb::kLoad || verb == Verb::kForward || verb == Verb::kBackward || verb == Verb::kVote;
    return of_slots ? Lane::kSlots : Lane::kBuckets;
  }
  /// `forward slot 3`, `reduce bucket 0`.
  std::string text() const;
};

/// Everything one rank does in one step: two lanes, of slots and of buckets, each in the order of the list.
using Program = std::vector<Action>;

/// When parameters may change.
enum class UpdateTime {
  kWhenReduced,  ///< each bucket as soon as it is reduced: nothing can stop the step any more
  kAfterVote,    ///< when all ranks have agreed: clipping by norm, steps that may be skipped
};

/// How many copies of the parameters the ranks of a host keep.
enum class Copies {
  kOne,      ///< all ranks read the same memory, and each writes its slices of it: where they can see each
             ///< other's
  kPerRank,  ///< each rank has its own
};

/// The step of one rank of synchronous data-parallel training.
Program data_parallel_program(const std::vector<int>& slots, int num_buckets, UpdateTime update,
                              Copies copies);

}  // namespace cohort
