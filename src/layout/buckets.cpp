#include "layout/buckets.h"

#include "base/check.h"

#include <algorithm>
#include <vector>

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

BucketLayout layout_by_part(std::span<const std::size_t> sizes, std::span<const std::size_t> order,
                            std::span<const int> part_of, int world, std::size_t elements) {
  COHORT_CHECK_EQ(sizes.size(), part_of.size());
  const int num_parts = part_of.empty() ? 0 : *std::max_element(part_of.begin(), part_of.end()) + 1;
  std::vector<std::size_t> turn(sizes.size());  // of each parameter, in the order
  for (std::size_t i = 0; i < order.size(); ++i) turn[order[i]] = i;
  std::vector<Bucket> buckets;
  for (int part = 0; part < num_parts; ++part) {
    std::vector<std::size_t> of_part, sizes_of_part;
    for (const std::size_t parameter : order) {
      if (part_of[parameter] == part) of_part.push_back(parameter);
    }
    std::vector<std::size_t> in_order(of_part.size());
    for (std::size_t i = 0; i < of_part.size(); ++i) {
      in_order[i] = i;
      sizes_of_part.push_back(sizes[of_part[i]]);
    }
    for (Bucket& bucket : layout_for(sizes_of_part, in_order, world, elements).buckets) {
      for (BucketEntry& entry : bucket.entries) entry.parameter = of_part[entry.parameter];
      bucket.part = part;
      buckets.push_back(std::move(bucket));
    }
  }
  // The pieces of a large parameter stay side by side: no other bucket ends with it.
  std::stable_sort(buckets.begin(), buckets.end(), [&](const Bucket& a, const Bucket& b) {
    return turn[a.entries.back().parameter] < turn[b.entries.back().parameter];
  });
  BucketLayout layout;
  for (Bucket& bucket : buckets) {
    for (BucketEntry& entry : bucket.entries) entry.first = layout.count + (entry.first - bucket.first);
    bucket.first = layout.count;
    layout.count += bucket.count;
    layout.buckets.push_back(std::move(bucket));
  }
  return layout;
}

BucketSlice slice_of(const Bucket& bucket, int rank, int world) {
  const std::size_t each = bucket.count / static_cast<std::size_t>(world);
  return {.first = bucket.first + each * static_cast<std::size_t>(rank), .count = each};
}

}  // namespace cohort
