#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace cohort::comm {

/// Who read and wrote which elements of one memory so far, by the number of the step: from it follows which
/// steps a new one must wait for.
///
/// Cost: grows with the number of different borders of regions, not with elements.
class AccessLog {
 public:
  /// Notes that `step` reads [first, end) and adds to `after` whose writing it must see.
  void read(std::ptrdiff_t first, std::ptrdiff_t end, int step, std::vector<int>& after);
  /// Notes that `step` writes [first, end) and adds to `after` whom it must not overtake.
  void write(std::ptrdiff_t first, std::ptrdiff_t end, int step, std::vector<int>& after);

 private:
  struct Cell {
    std::ptrdiff_t end = 0;
    std::optional<int> writer{};
    std::vector<int> readers{};  // since the last writing
  };

  void split_at(std::ptrdiff_t place);
  template <class Visit>
  void for_cells(std::ptrdiff_t first, std::ptrdiff_t end, Visit visit);

  std::map<std::ptrdiff_t, Cell> cells_;
};

}  // namespace cohort::comm
