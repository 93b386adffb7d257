#pragma once

// The product of two matrices, in tiles whose sums stay in registers. As loops.h.

#include "update/kernels.h"

#include <cstring>

namespace cohort::update {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t kTileRows = 8, kLanes = 16;
#elif defined(__AVX2__)
constexpr std::size_t kTileRows = 6, kLanes = 8;
#else
constexpr std::size_t kTileRows = 4, kLanes = 4;
#endif
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float))));
constexpr std::size_t kTileVectors = 2;
constexpr std::size_t kTileColumns = kTileVectors * kLanes;
constexpr std::size_t kDepth = 256;  // rows of a panel of the right matrix, which stays in the cache

// The rows from `first` on of the panel of the right matrix that begins with column `column`; 0 beyond it.
inline void copy_panel(const MatrixProduct& job, std::size_t first, std::size_t depth, std::size_t column,
                       float* panel) {
  const std::size_t columns = job.columns - column < kTileColumns ? job.columns - column : kTileColumns;
  for (std::size_t k = 0; k < depth; ++k) {
    float* const row = panel + k * kTileColumns;
    std::memcpy(row, job.right + (first + k) * job.columns + column, columns * sizeof(float));
    for (std::size_t j = columns; j < kTileColumns; ++j) row[j] = 0;
  }
}

// Adds products to a tile of sums. Each sum is one chain of additions in the order of k, whatever the tile.
inline void add_to_tile(const float* const* rows, const float* panel, std::size_t depth, float* tile) {
  Lanes sums[kTileRows][kTileVectors];
  std::memcpy(sums, tile, sizeof sums);
  for (std::size_t k = 0; k < depth; ++k) {
    Lanes right[kTileVectors];
    std::memcpy(right, panel + k * kTileColumns, sizeof right);
    for (std::size_t i = 0; i < kTileRows; ++i) {
      for (std::size_t v = 0; v < kTileVectors; ++v) sums[i][v] += rows[i][k] * right[v];
    }
  }
  std::memcpy(tile, sums, sizeof sums);
}

// A tile beyond the last row repeats that row, and its sums are dropped.
// NOLINTNEXTLINE(misc-definitions-in-headers): one copy for each instruction set is the point
void matrix_product(const MatrixProduct& job) {
  alignas(64) float panel[kDepth * kTileColumns];
  alignas(64) float tile[kTileRows * kTileColumns];
  if (job.rows == 0 || job.columns == 0) return;
  std::memset(job.result, 0, job.rows * job.columns * sizeof(float));
  for (std::size_t first = 0; first < job.inner; first += kDepth) {
    const std::size_t depth = job.inner - first < kDepth ? job.inner - first : kDepth;
    for (std::size_t column = 0; column < job.columns; column += kTileColumns) {
      copy_panel(job, first, depth, column, panel);
      const std::size_t columns = job.columns - column < kTileColumns ? job.columns - column : kTileColumns;
      for (std::size_t row = 0; row < job.rows; row += kTileRows) {
        const std::size_t height = job.rows - row < kTileRows ? job.rows - row : kTileRows;
        const float* rows[kTileRows];
        for (std::size_t i = 0; i < kTileRows; ++i) {
          const std::size_t used = i < height ? i : height - 1;
          rows[i] = job.left + (row + used) * job.inner + first;
          std::memcpy(tile + i * kTileColumns, job.result + (row + used) * job.columns + column,
                      columns * sizeof(float));
          for (std::size_t j = columns; j < kTileColumns; ++j) tile[i * kTileColumns + j] = 0;
        }
        add_to_tile(rows, panel, depth, tile);
        for (std::size_t i = 0; i < height; ++i) {
          std::memcpy(job.result + (row + i) * job.columns + column, tile + i * kTileColumns,
                      columns * sizeof(float));
        }
      }
    }
  }
}

}  // namespace
}  // namespace cohort::update
