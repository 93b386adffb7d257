#pragma once

#include "comm/group/call.h"
#include "mpi/library.h"

#include <vector>

namespace cohort::mpi {

/// One collective call translated to MPI: prepares the buffers before it, and the result after it.
///
/// 16-bit floats are combined in f32: the input is widened once, the result rounded once. A mean is divided
/// once. Operations that MPI cannot do in place go through a temporary buffer.
///
/// Threads: one at a time.
/// Lifetime: between begin() and the end of test(), or during run(), neither this object nor the buffers of
/// the call may move or end: MPI uses both.
/// Cost: no allocation for integers, f32 and f64 with parts of equal length.
class Flight {
 public:
  /// The MPI communicator of the call, and the rank of this process in it.
  struct Group {
    const Library& library;
    CohortMpiHandle comm = 0;
    int rank = 0;
    int world = 1;
  };
  /// kUnsupported for buffers longer than MPI can count.
  static Status check(const Call& call);

  Flight(const Group& group, const Call& call);
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  // begin(), test() and run() return an error code of the shim; 0 is success.
  int begin() { return group_.library.shim().start(&collective_, &request_); }
  int test(bool& is_done);
  int run() { return group_.library.shim().run(&collective_); }
  /// After the call has completed: moves the result to the output of the call.
  void finish();

 private:
  void lay_out();
  void lay_out_all_reduce();
  void lay_out_reduce();
  void lay_out_reduce_scatter();
  void lay_out_all_gather();
  void lay_out_gather();
  void lay_out_scatter();
  void lay_out_all_to_all();

  bool is_root() const { return group_.rank == call_.peer; }
  bool is_wide() const { return wide_ != call_.dtype(); }
  void use_input(ConstNumbers numbers);
  void use_output(Numbers numbers);
  Numbers room(std::vector<std::byte>& memory, std::size_t count) const;
  ConstNumbers widened_input();
  Numbers own_part(Numbers whole, const std::vector<std::size_t>& counts, std::size_t count) const;
  void set_counts(const std::vector<std::size_t>& counts, std::size_t each, const int** lengths,
                  const int** offsets);

  const Group group_;
  const Call& call_;
  const DType wide_;  // the type in which elements are combined
  CohortMpiCollective collective_{};
  CohortMpiHandle request_ = 0;
  Numbers result_{};  // the buffer that MPI writes to, if not the output
  std::vector<std::byte> input_room_;
  std::vector<std::byte> output_room_;
  std::vector<std::vector<int>> counts_;
};

}  // namespace cohort::mpi
