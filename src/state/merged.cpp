#include "state/merged.h"

#include "base/check.h"
#include "comm/numbers/combine.h"

#include <cstring>

namespace cohort::state {
namespace {

// Any type of floating point as doubles.
std::vector<double> widened(ConstNumbers from) {
  std::vector<double> wide(from.count);
  if (from.dtype == DType::kF64) {
    std::memcpy(wide.data(), from.data, from.size_bytes());
    return wide;
  }
  std::vector<float> floats(from.count);
  comm::convert(from, std::span(floats));
  wide.assign(floats.begin(), floats.end());
  return wide;
}

void narrow(const std::vector<double>& wide, Numbers to) {
  if (to.dtype == DType::kF64) {
    std::memcpy(to.data, wide.data(), to.size_bytes());
    return;
  }
  const std::vector<float> floats(wide.begin(), wide.end());
  comm::convert(std::span(floats), to);
}

}  // namespace

Merged::Merged(const Piece& piece)
    : piece_(piece),
      adds_(piece.merge == Merge::kSum || piece.merge == Merge::kMean),
      values_(piece.bytes.size()),
      sums_(adds_ ? piece.mine.count : 0),
      num_copies_(piece.mine.count),
      is_different_(piece.mine.count) {
  COHORT_CHECK(piece.merge != Merge::kSame);
}

void Merged::add(std::size_t to, std::span<const std::byte> copies) {
  const std::size_t size = size_bytes(piece_.dtype);
  given_.assign(copies.begin(), copies.end());
  const std::size_t count = given_.size() / size;
  if (adds_) add_sums(to, count);
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const kept = values_.data() + (to + i) * size;
    const std::byte* const given = given_.data() + i * size;
    if (num_copies_[to + i]++ == 0) {
      std::memcpy(kept, given, size);
    } else if (std::memcmp(kept, given, size) != 0) {
      is_different_[to + i] = 1;
      if (adds_) continue;
      const std::byte* const inputs[] = {kept, given};
      std::byte* const targets[] = {kept};
      comm::combine(ReduceOp::kMax, piece_.dtype, inputs, targets, 1);
    }
  }
}

void Merged::add_sums(std::size_t to, std::size_t count) {
  const std::vector<double> wide = widened({given_.data(), count, piece_.dtype});
  for (std::size_t i = 0; i < count; ++i) sums_[to + i] += wide[i];
}

void Merged::finish() {
  const std::size_t size = size_bytes(piece_.dtype);
  if (adds_) {
    const bool is_mean = piece_.merge == Merge::kMean;
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] /= is_mean ? num_copies_[i] : 1;
    std::vector<std::byte> rounded(values_.size());
    narrow(sums_, {rounded.data(), sums_.size(), piece_.dtype});
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const bool keeps_bits = num_copies_[i] == 1 || (is_mean && is_different_[i] == 0);
      if (!keeps_bits) std::memcpy(values_.data() + i * size, rounded.data() + i * size, size);
    }
  }
  if (!values_.empty()) std::memcpy(piece_.bytes.data(), values_.data(), values_.size());
}

}  // namespace cohort::state
