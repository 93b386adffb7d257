#pragma once

#include "comm/communicator.h"

#include <memory>
#include <string>
#include <vector>

namespace cohort {

/// Ranks as the points of a grid: the last axis runs fastest. Pure arithmetic.
///
///     const Mesh mesh({2, 4});  // ranks 0 … 3 are one line along axis 1, ranks 0 and 4 one along axis 0
///
/// A plane through a point along some axes is what those points have in common that differ from it in no
/// other axis.
class Mesh {
 public:
  /// Every axis is at least 1 long.
  explicit Mesh(std::vector<int> shape);

  const std::vector<int>& shape() const { return shape_; }
  int num_axes() const { return static_cast<int>(shape_.size()); }
  /// How many ranks it has.
  int world() const;
  /// Where a rank is, by axis.
  std::vector<int> coordinates(int rank) const;
  int rank_at(const std::vector<int>& coordinates) const;

  /// Which of the planes along `axes` a rank is in, from 0; and which point of it, from 0, the last of `axes`
  /// fastest.
  int plane_of(int rank, const std::vector<int>& axes) const;
  int position_in_plane(int rank, const std::vector<int>& axes) const;

 private:
  std::vector<int> shape_;
};

/// The group of the ranks that differ from this one along `axes` only, in the order of the mesh. Every rank
/// of `group` calls this. kUsage if the mesh has another size than the group, or if an axis is not there or
/// named twice.
Result<std::unique_ptr<Communicator>> split_axes(Communicator& group, const Mesh& mesh,
                                                 const std::vector<int>& axes, const std::string& name);

}  // namespace cohort
