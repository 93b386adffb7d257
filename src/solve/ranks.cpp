#include "solve/ranks.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace cohort::solve {
namespace {

constexpr std::size_t kSumBytes = ExactSum::kPackedBytes;

std::vector<std::byte> packed(std::span<const ExactSum> sums, std::span<const double> maxima) {
  std::vector<std::byte> bytes(sums.size() * kSumBytes + maxima.size_bytes());
  std::byte* next = bytes.data();
  for (const ExactSum& sum : sums) {
    sum.pack(std::span<std::byte, kSumBytes>(next, kSumBytes));
    next += kSumBytes;
  }
  if (!maxima.empty()) std::memcpy(next, maxima.data(), maxima.size_bytes());
  return bytes;
}

void add(const std::byte* bytes, std::span<ExactSum> sums, std::span<double> maxima) {
  for (ExactSum& sum : sums) {
    sum.add(ExactSum::unpack(std::span<const std::byte, kSumBytes>(bytes, kSumBytes)));
    bytes += kSumBytes;
  }
  for (double& maximum : maxima) {
    double other = 0;
    std::memcpy(&other, bytes, sizeof other);
    maximum = larger(maximum, other);
    bytes += sizeof other;
  }
}

}  // namespace

double larger(double a, double b) {
  return std::isnan(a) || a > b ? a : b;
}

Status RanksOfGroup::combine(std::span<ExactSum> sums, std::span<double> maxima) {
  const std::vector<std::byte> mine = packed(sums, maxima);
  if (group_.size() == 1 || mine.empty()) return {};
  const auto world = static_cast<std::size_t>(group_.size());
  std::vector<std::byte> all(mine.size() * world);
  COHORT_RETURN_IF_ERROR(group_.run(all_gather(std::span(mine), std::span(all))));
  bytes_sent_ += mine.size();
  for (std::size_t rank = 0; rank < world; ++rank) {
    if (rank != static_cast<std::size_t>(group_.rank())) add(all.data() + rank * mine.size(), sums, maxima);
  }
  return {};
}

}  // namespace cohort::solve
