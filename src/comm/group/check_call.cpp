#include "comm/group/call.h"
#include "comm/numbers/combine.h"

#include <fmt/format.h>
#include <functional>
#include <numeric>

namespace cohort {
namespace {

/// The checks of one call, each named after the property that must hold.
class CallCheck {
 public:
  CallCheck(const Call& call, int rank, int world) : call_(call), rank_(rank), world_(world) {}

  Status run() const {
    if (Status fault = check_common(); !fault) return wrong(fault);
    if (Status fault = check_operation(); !fault) return wrong(fault);
    return {};
  }

 private:
  static Error fault(std::string what, std::string remedy) {
    return Error(ErrorCode::kUsage, std::move(what)).with_remedy(std::move(remedy));
  }
  Error wrong(const Status& fault) const {
    return fault.error().within(fmt::format("rank {}: {}", rank_, call_.text()));
  }

  std::size_t parts() const { return static_cast<std::size_t>(world_); }
  bool is_root() const { return rank_ == call_.peer; }

  Status check_common() const {
    if (call_.operation == Operation::kReceive && call_.peer == kAnyRank) {
      if (world_ == 1) {
        return fault("a group of one rank has no other rank to receive from", "Start more ranks.");
      }
    } else if (call_.peer < 0 || call_.peer >= world_) {
      return fault(fmt::format("there is no rank {} in a group of {}", call_.peer, world_),
                   fmt::format("Name a rank from 0 to {}.", world_ - 1));
    }
    if (call_.limit && *call_.limit <= std::chrono::nanoseconds::zero()) {
      return fault(fmt::format("its timeout is {} ns, expected more than 0", call_.limit->count()),
                   "Give a timeout, for example 30 s.");
    }
    if (call_.consumer != nullptr && call_.operation != Operation::kReduceScatter) {
      return fault("only reduce_scatter takes a consumer", "Read the result in the output.");
    }
    for (const auto* counts : {&call_.input_counts, &call_.output_counts}) {
      if (!counts->empty() && counts->size() != parts()) {
        return fault(fmt::format("{} counts are given for {} ranks", counts->size(), world_),
                     "Give one count for each rank, or none if all are equal.");
      }
    }
    if (call_.input.count > 0 && call_.input.data == nullptr) {
      return fault(fmt::format("its input of {} elements has a null address", call_.input.count),
                   "Give the address of memory for them.");
    }
    if (call_.output.count > 0 && call_.output.data == nullptr) {
      return fault(fmt::format("its output of {} elements has a null address", call_.output.count),
                   "Give the address of memory for them.");
    }
    return {};
  }

  Status check_operation() const {
    switch (call_.operation) {
      case Operation::kBarrier:
        return {};
      case Operation::kSend:
      case Operation::kReceive:
        if (is_root()) return fault("it names this very rank", "Copy the numbers instead.");
        return {};
      case Operation::kBroadcast:
        return {};
      case Operation::kAllReduce:
        if (Status fault = combinable(); !fault) return fault;
        if (Status fault = same_type(); !fault) return fault;
        if (Status fault = equal_length(); !fault) return fault;
        return exact_or_apart();
      case Operation::kReduce:
        if (!is_root()) return combinable();
        if (Status fault = combinable(); !fault) return fault;
        if (Status fault = same_type(); !fault) return fault;
        if (Status fault = equal_length(); !fault) return fault;
        return exact_or_apart();
      case Operation::kReduceScatter:
        if (Status fault = combinable(); !fault) return fault;
        if (Status fault = same_type(); !fault) return fault;
        if (Status fault = cut(call_.input.count, call_.input_counts, call_.output.count, "input"); !fault) {
          return fault;
        }
        return part_or_apart(call_.input, call_.input_counts, call_.output);
      case Operation::kAllGather:
        if (Status fault = same_type(); !fault) return fault;
        if (Status fault = cut(call_.output.count, call_.output_counts, call_.input.count, "output");
            !fault) {
          return fault;
        }
        return part_or_apart(call_.output, call_.output_counts, call_.input);
      case Operation::kGather:
        if (!is_root()) return {};
        if (Status fault = same_type(); !fault) return fault;
        if (Status fault = cut(call_.output.count, call_.output_counts, call_.input.count, "output");
            !fault) {
          return fault;
        }
        return part_or_apart(call_.output, call_.output_counts, call_.input);
      case Operation::kScatter:
        if (!is_root()) return {};
        if (Status fault = same_type(); !fault) return fault;
        if (Status fault = cut(call_.input.count, call_.input_counts, call_.output.count, "input"); !fault) {
          return fault;
        }
        return part_or_apart(call_.input, call_.input_counts, call_.output);
      case Operation::kAllToAll:
        return check_all_to_all();
    }
    return {};
  }

  Status combinable() const {
    if (comm::is_combinable(call_.reduce_op, call_.input.dtype)) return {};
    if (comm::is_combinable(comm::partial_op(call_.reduce_op), call_.input.dtype)) {
      return fault(fmt::format("{} has no mean", name(call_.input.dtype)),
                   "Convert the numbers to floats, or ask for the sum.");
    }
    return fault(fmt::format("bitwise operations do not apply to {}", name(call_.input.dtype)),
                 "Use integers or truth values.");
  }
  Status same_type() const {
    if (call_.input.dtype == call_.output.dtype) return {};
    return fault(
        fmt::format("its input is {}, its output {}", name(call_.input.dtype), name(call_.output.dtype)),
        "Give both the same type.");
  }
  Status equal_length() const {
    if (call_.input.count == call_.output.count) return {};
    return fault(
        fmt::format("its input has {} elements, its output {}", call_.input.count, call_.output.count),
        "Give both the same length.");
  }

  /// The whole is cut by counts, or evenly; this rank's part has `mine` elements.
  Status cut(std::size_t whole, const std::vector<std::size_t>& counts, std::size_t mine,
             std::string_view which) const {
    if (counts.empty()) {
      if (whole == mine * parts()) return {};
      return fault(fmt::format("its {} has {} elements for {} parts of {}", which, whole, world_, mine),
                   "Make it a part for each rank, or give counts.");
    }
    const std::size_t sum = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    if (sum != whole) {
      return fault(fmt::format("its counts add up to {}, its {} has {} elements", sum, which, whole),
                   "Make them agree.");
    }
    const std::size_t own = counts[static_cast<std::size_t>(rank_)];
    if (own != mine) {
      return fault(fmt::format("its own count is {}, its own part has {} elements", own, mine),
                   "Make them agree.");
    }
    return {};
  }

  static bool apart(ConstNumbers a, ConstNumbers b) {
    const std::less_equal<const std::byte*> before;
    return a.count == 0 || b.count == 0 || before(a.data + a.size_bytes(), b.data) ||
           before(b.data + b.size_bytes(), a.data);
  }
  Status exact_or_apart() const {
    if (call_.input.data == call_.output.data || apart(call_.input, call_.output)) return {};
    return fault("input and output overlap in part", "Make them the same memory or keep them apart.");
  }
  Status part_or_apart(ConstNumbers whole, const std::vector<std::size_t>& counts, ConstNumbers part) const {
    std::size_t first = static_cast<std::size_t>(rank_) * part.count;
    if (!counts.empty()) first = std::accumulate(counts.begin(), counts.begin() + rank_, std::size_t{0});
    if (part.data == whole.slice(first, 0).data || apart(whole, part)) return {};
    return fault("input and output overlap",
                 fmt::format("Keep them apart, or make one part {} of the other.", rank_));
  }

  Status check_all_to_all() const {
    if (Status status = same_type(); !status) return status;
    if (!apart(call_.input, call_.output)) return fault("input and output overlap", "Keep them apart.");
    if (call_.input_counts.empty() != call_.output_counts.empty()) {
      return fault("counts are given for one side only", "Give them for both sides or for none.");
    }
    if (call_.input_counts.empty()) {
      if (call_.input.count % parts() != 0) {
        return fault(fmt::format("{} elements cannot be cut into {} equal parts", call_.input.count, world_),
                     "Give counts.");
      }
      return equal_length();
    }
    if (Status status = sums(call_.input_counts, call_.input.count, "input"); !status) return status;
    if (Status status = sums(call_.output_counts, call_.output.count, "output"); !status) return status;
    const auto own = static_cast<std::size_t>(rank_);
    if (call_.input_counts[own] != call_.output_counts[own]) {
      return fault(fmt::format("it sends {} elements to itself and receives {} from itself",
                               call_.input_counts[own], call_.output_counts[own]),
                   "Make the counts agree.");
    }
    return {};
  }
  static Status sums(const std::vector<std::size_t>& counts, std::size_t whole, std::string_view which) {
    const std::size_t sum = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    if (sum == whole) return {};
    return fault(fmt::format("its {} counts add up to {}, its {} has {} elements", which, sum, which, whole),
                 "Make them agree.");
  }

  const Call& call_;
  const int rank_;
  const int world_;
};

}  // namespace

Status check_call(const Call& call, int rank, int world) {
  return CallCheck(call, rank, world).run();
}

}  // namespace cohort
