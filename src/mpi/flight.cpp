#include "mpi/flight.h"

#include "comm/message_passing/plan.h"
#include "comm/numbers/combine.h"
#include "comm/numbers/combine_kernels.h"
#include "comm/numbers/copy.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace cohort::mpi {
namespace {

CohortMpiType type_of(DType dtype, bool is_combined) {
  if (is_combined) {
    switch (dtype) {
      case DType::kF32:
        return kCohortMpiF32;
      case DType::kF64:
        return kCohortMpiF64;
      case DType::kI8:
        return kCohortMpiI8;
      case DType::kI16:
        return kCohortMpiI16;
      case DType::kI32:
        return kCohortMpiI32;
      case DType::kI64:
        return kCohortMpiI64;
      default:
        return kCohortMpiU8;
    }
  }
  constexpr CohortMpiType kWidths[] = {kCohortMpiWidth1, kCohortMpiWidth1, kCohortMpiWidth2,
                                       kCohortMpiWidth2, kCohortMpiWidth4, kCohortMpiWidth4,
                                       kCohortMpiWidth4, kCohortMpiWidth4, kCohortMpiWidth8};
  return kWidths[size_bytes(dtype)];
}

CohortMpiReduction reduction_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMin:
      return kCohortMpiMin;
    case ReduceOp::kMax:
      return kCohortMpiMax;
    case ReduceOp::kProduct:
      return kCohortMpiProduct;
    case ReduceOp::kAnd:
      return kCohortMpiAnd;
    case ReduceOp::kOr:
      return kCohortMpiOr;
    case ReduceOp::kXor:
      return kCohortMpiXor;
    default:
      return kCohortMpiSum;
  }
}

bool is_equal_everywhere(const std::vector<std::size_t>& counts) {
  return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
}

void copy(ConstNumbers from, Numbers to) {
  if (from.count > 0) comm::copy_bytes(to.data, from.data, from.size_bytes());
}

}  // namespace

Status Flight::check(const Call& call) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (call.input.count <= kMost && call.output.count <= kMost) return {};
  return Error(ErrorCode::kUnsupported,
               fmt::format("a call of {} elements: MPI counts with an int, at most {}",
                           std::max(call.input.count, call.output.count), kMost))
      .with_remedy("Split the call into several smaller ones.");
}

Flight::Flight(const Group& group, const Call& call)
    : group_(group), call_(call), wide_(comm::work_dtype(call)) {
  collective_.comm = group.comm;
  collective_.operation = static_cast<CohortMpiOperation>(call.operation);
  collective_.type = type_of(wide_, comm::is_reducing(call.operation));
  collective_.reduction =
      reduction_of(wide_ == DType::kBool ? comm::truth_op(call.reduce_op) : call.reduce_op);
  collective_.root = call.peer;
  lay_out();
}

void Flight::lay_out() {
  switch (call_.operation) {
    case Operation::kAllReduce:
      return lay_out_all_reduce();
    case Operation::kReduce:
      return lay_out_reduce();
    case Operation::kBroadcast:
      return use_output(call_.output);
    case Operation::kReduceScatter:
      return lay_out_reduce_scatter();
    case Operation::kAllGather:
      return lay_out_all_gather();
    case Operation::kGather:
      return lay_out_gather();
    case Operation::kScatter:
      return lay_out_scatter();
    case Operation::kAllToAll:
      return lay_out_all_to_all();
    default:
      return;
  }
}

void Flight::use_input(ConstNumbers numbers) {
  collective_.input = const_cast<std::byte*>(numbers.data);  // MPI does not write to it
  collective_.input_count = static_cast<int>(numbers.count);
}

void Flight::use_output(Numbers numbers) {
  collective_.output = numbers.data;
  collective_.output_count = static_cast<int>(numbers.count);
}

Numbers Flight::room(std::vector<std::byte>& memory, std::size_t count) const {
  memory.resize(count * size_bytes(wide_));
  return {memory.data(), count, wide_};
}

ConstNumbers Flight::widened_input() {
  if (!is_wide()) return call_.input;
  const Numbers wide = room(input_room_, call_.input.count);
  comm::convert(call_.input, wide);
  return wide;
}

// MPI requires that either all ranks or no rank use MPI_IN_PLACE. In place is always right here: MPI would
// make the same copy itself.
void Flight::lay_out_all_reduce() {
  result_ = is_wide() ? room(output_room_, call_.output.count) : call_.output;
  if (is_wide()) {
    comm::convert(call_.input, result_);
  } else {
    copy(call_.input, result_);
  }
  use_input(call_.input);
  collective_.input = COHORT_MPI_IN_PLACE;
  use_output(result_);
}

void Flight::lay_out_reduce() {
  use_input(widened_input());
  if (!is_root()) return;
  result_ = is_wide() ? room(output_room_, call_.output.count) : call_.output;
  use_output(result_);
  if (collective_.input != result_.data || result_.count == 0) return;
  // MPI_IN_PLACE is not used here: MPICH 4.0 aborts if the root is not rank 0.
  const Numbers apart = room(input_room_, call_.input.count);
  copy(call_.input, apart);
  use_input(apart);
}

void Flight::lay_out_reduce_scatter() {
  use_input(widened_input());
  // MPI_IN_PLACE would put the result at another position than Cohort does, so an in-place call goes through
  // a buffer of its own.
  const bool is_in_place = call_.output.count > 0 && call_.output.data >= call_.input.data &&
                           call_.output.data < call_.input.data + call_.input.size_bytes();
  result_ = is_wide() || is_in_place ? room(output_room_, call_.output.count) : call_.output;
  use_output(result_);
  if (is_equal_everywhere(call_.input_counts)) return;
  set_counts(call_.input_counts, 0, &collective_.input_counts, &collective_.input_offsets);
}

void Flight::lay_out_all_gather() {
  copy(call_.input, own_part(call_.output, call_.output_counts, call_.input.count));
  use_input(call_.input);
  collective_.input = COHORT_MPI_IN_PLACE;
  use_output(call_.output);
  if (is_equal_everywhere(call_.output_counts)) return;
  set_counts(call_.output_counts, 0, &collective_.output_counts, &collective_.output_offsets);
}

void Flight::lay_out_gather() {
  use_input(call_.input);
  if (!is_root()) return;
  use_output(call_.output);
  set_counts(call_.output_counts, call_.input.count, &collective_.output_counts, &collective_.output_offsets);
  const Numbers own = own_part(call_.output, call_.output_counts, call_.input.count);
  if (own.data == call_.input.data) collective_.input = COHORT_MPI_IN_PLACE;
}

void Flight::lay_out_scatter() {
  use_output(call_.output);
  if (!is_root()) return;
  use_input(call_.input);
  set_counts(call_.input_counts, call_.output.count, &collective_.input_counts, &collective_.input_offsets);
  Numbers whole(const_cast<std::byte*>(call_.input.data), call_.input.count, call_.input.dtype);
  const Numbers own = own_part(whole, call_.input_counts, call_.output.count);
  if (own.data == call_.output.data) collective_.output = COHORT_MPI_IN_PLACE;
}

void Flight::lay_out_all_to_all() {
  use_input(call_.input);
  use_output(call_.output);
  if (call_.input_counts.empty()) {
    collective_.input_count /= group_.world;
    collective_.output_count /= group_.world;
    return;
  }
  set_counts(call_.input_counts, 0, &collective_.input_counts, &collective_.input_offsets);
  set_counts(call_.output_counts, 0, &collective_.output_counts, &collective_.output_offsets);
}

Numbers Flight::own_part(Numbers whole, const std::vector<std::size_t>& counts, std::size_t count) const {
  std::size_t first = static_cast<std::size_t>(group_.rank) * count;
  if (!counts.empty()) first = std::accumulate(counts.begin(), counts.begin() + group_.rank, std::size_t{0});
  return whole.slice(first, count);
}

void Flight::set_counts(const std::vector<std::size_t>& counts, std::size_t each, const int** lengths,
                        const int** offsets) {
  counts_.reserve(4);  // pointers into it stay valid
  std::vector<int>& own_lengths = counts_.emplace_back();
  std::vector<int>& own_offsets = counts_.emplace_back();
  int offset = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(group_.world); ++r) {
    own_lengths.push_back(static_cast<int>(counts.empty() ? each : counts[r]));
    own_offsets.push_back(offset);
    offset += own_lengths.back();
  }
  *lengths = own_lengths.data();
  *offsets = own_offsets.data();
}

int Flight::test(bool& is_done) {
  int done = 0;
  const int code = group_.library.shim().test(&request_, &done);
  is_done = done != 0;
  return code;
}

void Flight::finish() {
  if (!comm::is_reducing(call_.operation) || (call_.operation == Operation::kReduce && !is_root())) return;
  if (call_.reduce_op == ReduceOp::kMean) comm::divide(result_, static_cast<std::size_t>(group_.world));
  if (result_.data == call_.output.data) return;
  if (is_wide()) {
    comm::convert(result_, call_.output);
  } else {
    copy(result_, call_.output);
  }
}

}  // namespace cohort::mpi
