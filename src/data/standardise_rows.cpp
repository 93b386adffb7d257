#include "data/standardise_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace cohort::data {
namespace {

using records::Rows;

/// Calls `visit` with the bytes of each row that is not left out.
Status for_each_row(const Rows& rows, const std::vector<bool>& is_left_out,
                    const std::function<void(std::span<const std::byte>)>& visit) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const std::size_t row_bytes = rows.row_bytes();
  if (row_bytes == 0) return {};
  const std::uint64_t most = std::max<std::size_t>(1, kMostBytes / row_bytes);
  std::vector<std::byte> block;
  for (std::uint64_t first = 0; first < rows.size(); first += most) {
    const auto count = static_cast<std::size_t>(std::min(most, rows.size() - first));
    block.resize(count * row_bytes);
    COHORT_RETURN_IF_ERROR(rows.read(first, block));
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_left_out.empty() && is_left_out[static_cast<std::size_t>(first) + i]) continue;
      visit(std::span<const std::byte>(block).subspan(i * row_bytes, row_bytes));
    }
  }
  return {};
}

Scale scale_from(double count, double mean, double square_sum) {
  const double deviation = count > 0 ? std::sqrt(square_sum / count) : 0;
  return {mean, deviation > 0 ? deviation : 1};
}

// The number of times that each byte occurs says all.
Result<Scale> scale_of_bytes(const Rows& rows, const std::vector<bool>& is_left_out) {
  std::array<std::uint64_t, 256> counts{};
  COHORT_RETURN_IF_ERROR(for_each_row(rows, is_left_out, [&](std::span<const std::byte> row) {
    for (const std::byte each : row) ++counts[std::to_integer<std::size_t>(each)];
  }));
  double count = 0, sum = 0, square_sum = 0;
  for (std::size_t byte = 0; byte < counts.size(); ++byte) {
    count += static_cast<double>(counts[byte]);
    sum += static_cast<double>(counts[byte]) * static_cast<double>(byte);
  }
  if (count == 0) return Scale{};
  const double mean = sum / count;
  for (std::size_t byte = 0; byte < counts.size(); ++byte) {
    const double distance = static_cast<double>(byte) - mean;
    square_sum += static_cast<double>(counts[byte]) * distance * distance;
  }
  return scale_from(count, mean, square_sum);
}

}  // namespace

Result<Scale> scale_of(const Rows& rows, const std::vector<bool>& is_left_out) {
  if (rows.dtype() == DType::kU8) return scale_of_bytes(rows, is_left_out);
  std::vector<float> numbers(rows.numbers_per_row());
  double count = 0, sum = 0, square_sum = 0;
  COHORT_RETURN_IF_ERROR(for_each_row(rows, is_left_out, [&](std::span<const std::byte> row) {
    records::floats(rows.dtype(), row, numbers.data());
    for (const float each : numbers) sum += each;
    count += static_cast<double>(numbers.size());
  }));
  if (count == 0) return Scale{};
  const double mean = sum / count;
  COHORT_RETURN_IF_ERROR(for_each_row(rows, is_left_out, [&](std::span<const std::byte> row) {
    records::floats(rows.dtype(), row, numbers.data());
    for (const float each : numbers) square_sum += (each - mean) * (each - mean);
  }));
  return scale_from(count, mean, square_sum);
}

}  // namespace cohort::data
