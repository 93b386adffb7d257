#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace cohort::comm {

/// Records which step read or wrote which elements of one memory, and finds the steps that a new step must
/// wait for.
///
/// Threads: one at a time.
/// Cost: grows with the number of distinct region borders, not with the number of elements.
class AccessLog {
 public:
  /// Records that `step` reads [first, end) and appends to `after` the steps whose writes it must see.
  void read(std::ptrdiff_t first, std::ptrdiff_t end, int step, std::vector<int>& after);
  /// Records that `step` writes [first, end) and appends to `after` the steps that must have read or written
  /// before.
  void write(std::ptrdiff_t first, std::ptrdiff_t end, int step, std::vector<int>& after);

 private:
  struct Cell {
    std::ptrdiff_t end = 0;
    std::optional<int> writer{};
    std::vector<int> readers{};  // since the last write
  };

  void split_at(std::ptrdiff_t position);
  template <class Visit>
  void for_cells(std::ptrdiff_t first, std::ptrdiff_t end, Visit visit);

  std::map<std::ptrdiff_t, Cell> cells_;
};

}  // namespace cohort::comm
