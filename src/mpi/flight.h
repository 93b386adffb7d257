#pragma once

#include "comm/call.h"
#include "mpi/library.h"

#include <vector>

namespace cohort::mpi {

/// One collective call in the words of MPI: what is laid ready before it, and what is done with the result.
///
/// 16-bit floats are combined in f32: the input is widened once, the result rounded once. A mean is divided
/// once. What MPI does not do in place goes through memory of its own.
///
/// Threads: one at a time.
/// Lifetime: from begin() until test() says done it must neither move nor die, nor may the numbers of the
/// call: MPI uses both.
/// Cost: nothing is allocated for whole numbers and wide floats in parts of equal length.
class Flight {
 public:
  /// Where the call is made.
  struct Place {
    const Library& library;
    CohortMpiHandle comm = 0;
    int rank = 0;
    int world = 1;
  };
  /// kUnsupported for what is longer than MPI can count.
  static Status check(const Call& call);

  Flight(const Place& place, const Call& call);
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  // Each returns a code of the shim.
  int begin() { return place_.library.shim().start(&collective_, &request_); }
  int test(bool& is_done);
  int run() { return place_.library.shim().run(&collective_); }
  /// After the last of them: the result is where the call wants it.
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

  bool is_root() const { return place_.rank == call_.peer; }
  bool is_wide() const { return wide_ != call_.dtype(); }
  void use_input(ConstNumbers numbers);
  void use_output(Numbers numbers);
  Numbers room(std::vector<std::byte>& memory, std::size_t count) const;
  ConstNumbers widened_input();
  Numbers own_part(Numbers whole, const std::vector<std::size_t>& counts, std::size_t count) const;
  void set_counts(const std::vector<std::size_t>& counts, std::size_t each, const int** lengths,
                  const int** offsets);

  const Place place_;
  const Call& call_;
  const DType wide_;  // what it is combined in
  CohortMpiCollective collective_{};
  CohortMpiHandle request_ = 0;
  Numbers result_{};  // where MPI leaves it, if not in the output
  std::vector<std::byte> input_room_;
  std::vector<std::byte> output_room_;
  std::vector<std::vector<int>> counts_;
};

}  // namespace cohort::mpi
