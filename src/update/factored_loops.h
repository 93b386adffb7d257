#pragma once

// Loops of adafactor over a row of a matrix. As loops.h.

#include "update/loops.h"

namespace cohort::update {
namespace {

// Adds the squares of a row to the sums of the columns, and returns the sum over the row. Sums have a fixed
// order.
// NOLINTNEXTLINE(misc-definitions-in-headers): one copy for each instruction set is the point
double add_row_squares(const float* row, std::size_t count, double* column_sums) {
  typedef float Floats __attribute__((vector_size(32)));
  typedef double Doubles __attribute__((vector_size(64)));
  constexpr std::size_t kWidth = 8;
  Doubles sums{};
  std::size_t j = 0;
  for (; j + kWidth <= count; j += kWidth) {
    Floats narrow;
    Doubles column;
    std::memcpy(&narrow, row + j, sizeof narrow);
    std::memcpy(&column, column_sums + j, sizeof column);
    const Doubles wide = __builtin_convertvector(narrow, Doubles);
    const Doubles squares = wide * wide;
    column += squares;
    sums += squares;
    std::memcpy(column_sums + j, &column, sizeof column);
  }
  double rest = 0;
  for (; j < count; ++j) {
    const double square = double{row[j]} * double{row[j]};
    column_sums[j] += square;
    rest += square;
  }
  return (((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))) + rest;
}

// Divides a row by √v, at least by ε, where v is the mean of the row times those of the columns.
// NOLINTNEXTLINE(misc-definitions-in-headers): one copy for each instruction set is the point
void divide_row(const FactoredRow& job) {
  float* __restrict row = job.row;
  const float* __restrict columns = job.column_means;
  const float mean = job.mean, eps = job.eps;
  const std::size_t count = job.count;
  for (std::size_t j = 0; j < count; ++j) {
    row[j] = row[j] / at_least(__builtin_sqrtf(mean * columns[j]), eps);
  }
}

}  // namespace
}  // namespace cohort::update
