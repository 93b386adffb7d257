#include "layout/buckets.h"

#include "base/check.h"

#include <algorithm>

namespace cohort {
namespace {

constexpr std::size_t kLineElements = 16;  // of four bytes

std::size_t rounded_up(std::size_t count, std::size_t grain) {
  return (count + grain - 1) / grain * grain;
}

}  // namespace

BucketLayout plan_buckets(std::span<const std::size_t> sizes, std::span<const std::size_t> order,
                          const BucketOptions& options) {
  COHORT_CHECK_EQ(sizes.size(), order.size());
  const std::size_t grain = kLineElements * static_cast<std::size_t>(options.world);
  BucketLayout layout;
  Bucket open;
  const auto close = [&] {
    if (open.entries.empty()) return;
    open.count = rounded_up(open.count, grain);
    layout.count = open.first + open.count;
    layout.buckets.push_back(std::move(open));
    open = Bucket{.first = layout.count, .count = 0, .entries = {}};
  };
  const std::size_t piece = std::max(options.elements / grain, std::size_t{1}) * grain;
  const auto add_pieces = [&](std::size_t parameter) {
    close();
    for (std::size_t from = 0; from < sizes[parameter]; from += piece) {
      open.count = std::min(piece, sizes[parameter] - from);
      open.entries.push_back(
          {.parameter = parameter, .first = open.first, .count = open.count, .from = from});
      close();
    }
  };
  for (const std::size_t parameter : order) {
    if (sizes[parameter] > piece) {
      add_pieces(parameter);
      continue;
    }
    const std::size_t most = layout.buckets.empty() ? options.first_elements : options.elements;
    if (open.count + sizes[parameter] > most) close();
    open.entries.push_back(
        {.parameter = parameter, .first = open.first + open.count, .count = sizes[parameter]});
    open.count += rounded_up(sizes[parameter], kLineElements);
  }
  close();
  return layout;
}

BucketLayout layout_for(std::span<const std::size_t> sizes, std::span<const std::size_t> order, int world,
                        std::size_t elements) {
  return plan_buckets(sizes, order,
                      {.world = world,
                       .first_elements = std::max<std::size_t>(elements / 4, 1),
                       .elements = std::max<std::size_t>(elements, 1)});
}

BucketSlice slice_of(const Bucket& bucket, int rank, int world) {
  const std::size_t each = bucket.count / static_cast<std::size_t>(world);
  return {.first = bucket.first + each * static_cast<std::size_t>(rank), .count = each};
}

}  // namespace cohort
