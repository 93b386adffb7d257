#pragma once

#include "base/result.h"
#include "bench/shared_array.h"
#include "update/optimizer.h"
#include <cohort/slice.h>

#include <optional>
#include <string>
#include <vector>

namespace cohort::tool {

/// The works on the memory of an optimizer: one update, or the plainest loop that reads and writes the same
/// arrays, as a measure of the memory bandwidth.
inline constexpr const char* kUpdateWork = "update";
inline constexpr const char* kMemoryWork = "memory";

/// A matrix of that many elements: 256 rows, or as many as divide the number.
Shape matrix_of(std::size_t elements);

/// The settings of a work on the memory of an optimizer.
struct WorkOrder {
  std::string optimizer{};
  std::string work = kUpdateWork;
  std::size_t elements = 1;
  std::string folder{};  ///< where the arrays are files: parameters, gradients, and moments by their names
};

/// Updates of a matrix of f32 parameters by one optimizer with its default settings, on one thread. All
/// processes that are measured work on the same arrays.
///
/// Threads: one.
class OptimizerWork {
 public:
  /// Failure: kUsage for an optimizer or a work that does not exist; the system's reason if there is no memory.
  static Result<OptimizerWork> make(const WorkOrder& order);

  /// Before each run(): new gradients where a run overwrites them.
  void prepare();
  void run();
  /// Failure: kCorrupt if a parameter is not finite.
  Status check() const;

 private:
  enum class Kind { kUpdate, kMemory };

  OptimizerWork(const OptimizerSettings& settings, Kind kind, SharedArray parameters, SharedArray gradients)
      : settings_(settings),
        kind_(kind),
        shape_(matrix_of(parameters.size())),
        parameters_(std::move(parameters)),
        gradients_(std::move(gradients)) {}
  UpdateSpans spans() const;
  void update();
  void update_in_two_passes();
  void pass_over_memory();

  OptimizerSettings settings_;
  Kind kind_;
  Shape shape_;
  std::int64_t steps_ = 0;
  float nothing_ = 0;  ///< the part of the gradient that `memory` adds
  SharedArray parameters_, gradients_;
  std::vector<std::optional<SharedArray>> moments_;
  std::vector<std::vector<float>> whole_state_;  ///< of optimizers that compute with whole tensors
};

/// The bytes that one update moves at least: gradients are read, parameters and moments read and written. An
/// optimizer that makes two passes reads and writes gradients and moments in the first, and reads gradients,
/// and reads and writes parameters, in the second.
std::uint64_t bytes_of_update(const OptimizerSettings& settings, std::size_t elements);

}  // namespace cohort::tool
