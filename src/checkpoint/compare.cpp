#include "checkpoint/compare.h"

#include "base/check.h"
#include "comm/numbers/combine.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace cohort::checkpoint {
namespace {

constexpr std::size_t kChunk = 4096;  // elements that are doubles at a time

template <class Number>
void widen(DType, std::span<const std::byte> bytes, std::vector<double>& wide) {
  for (std::size_t i = 0; i < wide.size(); ++i) {
    Number number;
    std::memcpy(&number, bytes.data() + i * sizeof(Number), sizeof(Number));
    wide[i] = static_cast<double>(number);
  }
}

void widen_half(DType dtype, std::span<const std::byte> bytes, std::vector<double>& wide) {
  std::vector<float> floats(wide.size());
  comm::convert(ConstNumbers(bytes.data(), floats.size(), dtype), std::span(floats));
  wide.assign(floats.begin(), floats.end());
}

using Widen = void (*)(DType, std::span<const std::byte>, std::vector<double>&);

// In the order of DType.
constexpr Widen kWiden[] = {
    widen<float>,        widen<double>,       widen_half,          widen_half,          widen<std::int8_t>,
    widen<std::int16_t>, widen<std::int32_t>, widen<std::int64_t>, widen<std::uint8_t>, widen<std::uint8_t>};
static_assert(std::size(kWiden) == std::size(kAllDTypes));

std::vector<double> widened(DType dtype, std::span<const std::byte> bytes) {
  std::vector<double> wide(bytes.size() / size_bytes(dtype));
  kWiden[static_cast<std::size_t>(dtype)](dtype, bytes, wide);
  return wide;
}

/// Adds up the differences of two tensors, chunk by chunk.
class Sums {
 public:
  explicit Sums(DType dtype) : dtype_(dtype) {}

  void add(std::span<const std::byte> a, std::span<const std::byte> b) {
    difference_.num_elements += a.size() / size_bytes(dtype_);
    if (std::memcmp(a.data(), b.data(), a.size()) == 0) return;
    const std::size_t length = kChunk * size_bytes(dtype_);
    for (std::size_t first = 0; first < a.size(); first += length) {
      const std::size_t count = std::min(length, a.size() - first);
      add_chunk(a.subspan(first, count), b.subspan(first, count));
    }
  }

  Difference value() const {
    Difference difference = difference_;
    const auto count = static_cast<double>(std::max<std::uint64_t>(difference.num_elements, 1));
    difference.rms = std::sqrt(squares_ / count);
    return difference;
  }

 private:
  void add_chunk(std::span<const std::byte> a, std::span<const std::byte> b) {
    if (std::memcmp(a.data(), b.data(), a.size()) == 0) return;
    const std::vector<double> in_a = widened(dtype_, a), in_b = widened(dtype_, b);
    const std::size_t size = size_bytes(dtype_);
    for (std::size_t i = 0; i < in_a.size(); ++i) {
      if (std::memcmp(a.data() + i * size, b.data() + i * size, size) != 0) add_element(in_a[i], in_b[i]);
    }
  }

  void add_element(double a, double b) {
    if (std::isnan(a) && std::isnan(b)) return;
    ++difference_.num_different;
    if (std::isnan(a) || std::isnan(b)) {
      ++difference_.num_nan;
      return;
    }
    const double distance = std::abs(a - b);
    difference_.max_abs = std::max(difference_.max_abs, distance);
    squares_ += distance * distance;
  }

  const DType dtype_;
  Difference difference_;
  double squares_ = 0;
};

}  // namespace

Result<Difference> compare(const WholeTensors& a, const WholeTensor& in_a, const WholeTensors& b,
                           const WholeTensor& in_b, const BytesRead& report) {
  COHORT_CHECK(in_a.dtype == in_b.dtype && in_a.shape == in_b.shape, "{} and {}", in_a.name, in_b.name);
  Sums sums(in_a.dtype);
  const std::uint64_t all = in_a.num_elements();
  const std::uint64_t window = std::max(a.window_of(in_a), b.window_of(in_b));
  std::vector<std::byte> of_a, of_b;
  for (std::uint64_t first = 0; first < all; first += window) {
    of_a.resize(std::min(window, all - first) * size_bytes(in_a.dtype));
    of_b.resize(of_a.size());
    COHORT_RETURN_IF_ERROR(a.read(in_a, first, of_a));
    COHORT_RETURN_IF_ERROR(b.read(in_b, first, of_b));
    sums.add(of_a, of_b);
    report(2 * of_a.size());
  }
  return sums.value();
}

}  // namespace cohort::checkpoint
