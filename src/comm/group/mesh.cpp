#include "comm/group/mesh.h"

#include "base/check.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort {
namespace {

bool contains(const std::vector<int>& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Status check_axes(const Mesh& mesh, const std::vector<int>& axes, int world) {
  if (mesh.size() != world) {
    return Error(ErrorCode::kUsage, fmt::format("the mesh has {} ranks, the group {}", mesh.size(), world))
        .with_remedy("Make the product of its axes the number of ranks.");
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= mesh.num_axes()) {
      return Error(ErrorCode::kUsage,
                   fmt::format("there is no axis {} in a mesh of {}", axes[i], mesh.num_axes()))
          .with_remedy(fmt::format("Name axes from 0 to {}.", mesh.num_axes() - 1));
    }
    if (std::count(axes.begin(), axes.end(), axes[i]) > 1) {
      return Error(ErrorCode::kUsage, fmt::format("axis {} is named twice", axes[i]))
          .with_remedy("Name it once.");
    }
  }
  return {};
}

}  // namespace

Mesh::Mesh(std::vector<int> shape) : shape_(std::move(shape)) {
  for (const int length : shape_) COHORT_CHECK_GE(length, 1);
}

int Mesh::size() const {
  int product = 1;
  for (const int length : shape_) product *= length;
  return product;
}

std::vector<int> Mesh::coordinates(int rank) const {
  COHORT_CHECK(rank >= 0 && rank < size(), "no rank {} in a mesh of {}", rank, size());
  std::vector<int> coordinates(shape_.size());
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    coordinates[axis] = rank % shape_[axis];
    rank /= shape_[axis];
  }
  return coordinates;
}

int Mesh::rank_at(const std::vector<int>& coordinates) const {
  COHORT_CHECK_EQ(coordinates.size(), shape_.size());
  int rank = 0;
  for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
    COHORT_CHECK(coordinates[axis] >= 0 && coordinates[axis] < shape_[axis]);
    rank = rank * shape_[axis] + coordinates[axis];
  }
  return rank;
}

int Mesh::plane_of(int rank, const std::vector<int>& axes) const {
  const std::vector<int> at = coordinates(rank);
  int plane = 0;
  for (int axis = 0; axis < num_axes(); ++axis) {
    const auto index = static_cast<std::size_t>(axis);
    if (!contains(axes, axis)) plane = plane * shape_[index] + at[index];
  }
  return plane;
}

int Mesh::position_in_plane(int rank, const std::vector<int>& axes) const {
  const std::vector<int> at = coordinates(rank);
  int position = 0;
  for (const int axis : axes) {
    const auto index = static_cast<std::size_t>(axis);
    position = position * shape_[index] + at[index];
  }
  return position;
}

Result<std::unique_ptr<Communicator>> split_axes(Communicator& group, const Mesh& mesh,
                                                 const std::vector<int>& axes, const std::string& name) {
  if (Status fine = check_axes(mesh, axes, group.size()); !fine) {
    return fine.error().within(fmt::format("group '{}' cannot be split into '{}'", group.group_name(), name));
  }
  return group.split(mesh.plane_of(group.rank(), axes), mesh.position_in_plane(group.rank(), axes), name);
}

}  // namespace cohort
