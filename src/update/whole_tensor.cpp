#include "update/whole_tensor.h"

#include "base/check.h"
#include "update/kernels.h"
#include "update/newton_schulz.h"

#include <algorithm>
#include <cmath>

namespace cohort {
namespace {

// The last two dimensions of a tensor, of which there are several.
struct Matrices {
  std::size_t count = 1;
  std::size_t rows = 1;
  std::size_t columns = 1;

  explicit Matrices(const Shape& shape) : rows(shape[shape.size() - 2]), columns(shape.back()) {
    for (std::size_t d = 0; d + 2 < shape.size(); ++d) count *= shape[d];
  }
};

// Moves a mean towards a new value.
void move_mean(float& mean, double value, double part) {
  mean = static_cast<float>(mean + part * (value - mean));
}

// Moves the means of the squares of each row and of each column of one matrix.
void move_means(const float* g, std::size_t rows, std::size_t columns, double part, float* row_means,
                float* column_means) {
  const auto add_squares_of = update::kernels_of(update::best_set()).row_squares;
  std::vector<double> of_columns(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    const double of_row = add_squares_of(g + i * columns, columns, of_columns.data());
    move_mean(row_means[i], of_row / static_cast<double>(columns), part);
  }
  for (std::size_t j = 0; j < columns; ++j) {
    move_mean(column_means[j], of_columns[j] / static_cast<double>(rows), part);
  }
}

double mean_of(const float* values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i];
  return sum / static_cast<double>(count);
}

// g / max(√v, ε), with v from the means of rows and columns. Adds the squares of the results.
void divide_by_means(const WholeTensor& tensor, double part, double eps, ExactSum& squares) {
  const auto divide = update::kernels_of(update::best_set()).divide_row;
  const Matrices all(tensor.shape);
  for (std::size_t k = 0; k < all.count; ++k) {
    float* const g = tensor.directions.data() + k * all.rows * all.columns;
    float* const row_means = tensor.state[0].data() + k * all.rows;
    float* const column_means = tensor.state[1].data() + k * all.columns;
    move_means(g, all.rows, all.columns, part, row_means, column_means);
    const double divisor = std::max(mean_of(row_means, all.rows), eps);
    for (std::size_t i = 0; i < all.rows; ++i) {
      float* const row = g + i * all.columns;
      divide({.row = row,
              .count = all.columns,
              .mean = static_cast<float>(row_means[i] / divisor),
              .column_means = column_means,
              .eps = static_cast<float>(eps)});
      add_squares({row, all.columns}, squares);
    }
  }
}

void divide_by_variance(const WholeTensor& tensor, double part, double eps, ExactSum& squares) {
  for (std::size_t i = 0; i < tensor.directions.size(); ++i) {
    float& each = tensor.directions[i];
    float& variance = tensor.state[0][i];
    move_mean(variance, double{each} * double{each}, part);
    each = static_cast<float>(each / std::max(std::sqrt(double{variance}), eps));
  }
  add_squares(tensor.directions, squares);
}

void adafactor(const OptimizerSettings& settings, const UpdateStep& step, const WholeTensor& tensor) {
  const auto count = static_cast<double>(tensor.directions.size());
  const double part = std::pow(static_cast<double>(step.count), settings.beta2_decay);
  const auto divide = tensor.shape.size() < 2 ? divide_by_variance : divide_by_means;
  ExactSum squares;
  divide(tensor, part, *settings.eps, squares);
  const double root_mean_square = std::sqrt(squares.value() / count);
  const double scale = std::max(settings.eps2, std::sqrt(tensor.parameter_squares / count)) /
                       std::max(1.0, root_mean_square / settings.d);
  const auto factor = static_cast<float>(scale);
  for (float& each : tensor.directions) each *= factor;
}

void muon(const OptimizerSettings& settings, const WholeTensor& tensor) {
  const std::vector<double>& given = settings.ns_coefficients;
  update::orthogonalise(
      {.elements = tensor.directions,
       .rows = tensor.shape.front(),
       .columns = tensor.directions.size() / tensor.shape.front()},
      {.coefficients = {given[0], given[1], given[2]}, .steps = settings.ns_steps, .eps = *settings.eps});
}

}  // namespace

std::vector<WholeState> whole_state(const OptimizerSettings& settings, const Shape& shape) {
  if (settings.kind != OptimizerKind::kAdafactor) return {};
  if (shape.size() < 2) return {{"variance", shape}};
  Shape rows = shape, columns = shape;
  rows.back() = 1;
  columns[columns.size() - 2] = 1;
  return {{"row_var", rows}, {"col_var", columns}};
}

double whole_cost(const OptimizerSettings& settings, const Shape& shape) {
  double count = 1;
  for (const std::size_t length : shape) count *= static_cast<double>(length);
  if (settings.kind != OptimizerKind::kMuon || count == 0) return 10 * count;
  const auto rows = static_cast<double>(shape.front());
  const double less = std::min(rows, count / rows);
  return settings.ns_steps * (2 * count * less + less * less * less);
}

void whole_pass(const OptimizerSettings& given, const UpdateStep& step, const WholeTensor& tensor) {
  if (tensor.directions.empty()) return;
  const OptimizerSettings settings = with_defaults(given);
  switch (settings.kind) {
    case OptimizerKind::kAdafactor:
      return adafactor(settings, step, tensor);
    case OptimizerKind::kMuon:
      return muon(settings, tensor);
    default:
      COHORT_CHECK(false, "{} does not compute with whole tensors", name(settings.kind));
  }
}

}  // namespace cohort
