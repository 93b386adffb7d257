#pragma once

#include "comm/group/communicator.h"

#include <memory>
#include <string>
#include <vector>

namespace cohort {

/// Ranks as the points of a grid, as a PyTorch DeviceMesh. The last axis runs fastest.
///
///     const Mesh mesh({2, 4});  // ranks 0 … 3 are one line along axis 1, ranks 0 and 4 one along axis 0
///
/// The plane through a rank along some axes holds the ranks that differ from it in these axes only.
class Mesh {
 public:
  /// The length of every axis is 1 or more.
  explicit Mesh(std::vector<int> shape);

  const std::vector<int>& shape() const { return shape_; }
  int num_axes() const { return static_cast<int>(shape_.size()); }
  /// The number of ranks.
  int size() const;
  /// The coordinates of a rank, by axis.
  std::vector<int> coordinates(int rank) const;
  int rank_at(const std::vector<int>& coordinates) const;

  /// The index of the plane along `axes` that a rank is in, from 0; and the rank's index in that plane, from
  /// 0, the last of `axes` fastest.
  int plane_of(int rank, const std::vector<int>& axes) const;
  int position_in_plane(int rank, const std::vector<int>& axes) const;

 private:
  std::vector<int> shape_;
};

/// The group of the ranks that differ from this one along `axes` only, in the order of the mesh. Every rank
/// of `group` calls this. kUsage if the mesh has another size than the group, or if an axis does not exist or
/// is named twice.
Result<std::unique_ptr<Communicator>> split_axes(Communicator& group, const Mesh& mesh,
                                                 const std::vector<int>& axes, const std::string& name);

}  // namespace cohort
