#include "comm/group/mesh.h"

#include <gtest/gtest.h>
#include <set>

namespace cohort {
namespace {

const std::vector<std::vector<int>> kShapes = {{},        {1},       {5},          {2, 3},
                                               {3, 1, 2}, {2, 2, 2}, {1, 4, 1, 2}, {2, 3, 2, 2}};

// All sets of axes of a mesh, as bits.
std::vector<int> axes_of(unsigned bits) {
  std::vector<int> axes;
  for (int axis = 0; axis < 4; ++axis) {
    if ((bits >> axis & 1U) != 0) axes.push_back(axis);
  }
  return axes;
}

TEST(Mesh, CoordinatesAndRanksAreEachOthersInverse) {
  for (const auto& shape : kShapes) {
    const Mesh mesh(shape);
    for (int rank = 0; rank < mesh.size(); ++rank) EXPECT_EQ(mesh.rank_at(mesh.coordinates(rank)), rank);
  }
}

TEST(Mesh, TheLastAxisRunsFastest) {
  const Mesh mesh({2, 3, 4});
  EXPECT_EQ(mesh.size(), 24);
  EXPECT_EQ(mesh.coordinates(0), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(mesh.coordinates(1), (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(mesh.coordinates(23), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(mesh.rank_at({1, 0, 2}), 14);
}

TEST(Mesh, RanksShareAPlaneIfTheyDifferAlongItsAxesOnly) {
  for (const auto& shape : kShapes) {
    const Mesh mesh(shape);
    for (unsigned bits = 0; bits < 1U << shape.size(); ++bits) {
      const std::vector<int> axes = axes_of(bits);
      for (int a = 0; a < mesh.size(); ++a) {
        for (int b = 0; b < mesh.size(); ++b) {
          bool differs_elsewhere = false;
          for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            const bool differs = mesh.coordinates(a)[axis] != mesh.coordinates(b)[axis];
            differs_elsewhere = differs_elsewhere || (differs && (bits >> axis & 1U) == 0);
          }
          EXPECT_EQ(mesh.plane_of(a, axes) == mesh.plane_of(b, axes), !differs_elsewhere);
        }
      }
    }
  }
}

TEST(Mesh, PositionsOfAPlaneAreNumberedWithoutGaps) {
  for (const auto& shape : kShapes) {
    const Mesh mesh(shape);
    for (unsigned bits = 0; bits < 1U << shape.size(); ++bits) {
      const std::vector<int> axes = axes_of(bits);
      int size = 1;
      for (const int axis : axes) size *= shape[static_cast<std::size_t>(axis)];
      std::set<std::pair<int, int>> seen;
      for (int rank = 0; rank < mesh.size(); ++rank) {
        const int position = mesh.position_in_plane(rank, axes);
        EXPECT_GE(position, 0);
        EXPECT_LT(position, size);
        EXPECT_TRUE(seen.emplace(mesh.plane_of(rank, axes), position).second);
      }
    }
  }
}

}  // namespace
}  // namespace cohort
