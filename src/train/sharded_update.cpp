#include "train/sharded_update.h"

#include "base/check.h"
#include "base/result.h"
#include "layout/slice.h"
#include "state/move.h"
#include "state/peer_source.h"
#include "train/tensor_pieces.h"
#include "update/bf16.h"
#include "update/mask.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::train {
namespace {

// In the order of ShardedUpdate::Beside.
constexpr std::string_view kBesideNames[] = {"master", "average", "mask"};

/// The elements in both slices.
BucketSlice common_part(const BucketSlice& a, const BucketSlice& b) {
  const std::size_t first = std::max(a.first, b.first);
  const std::size_t last = std::min(a.first + a.count, b.first + b.count);
  return {first, last > first ? last - first : 0};
}

}  // namespace

ShardedUpdate::ShardedUpdate(BucketSet& buckets, std::vector<ParameterUpdate> updates, int rank, int world)
    : buckets_(buckets),
      updates_(std::move(updates)),
      rank_(rank),
      world_(world),
      tensors_(buckets_, updates_, rank_, world_) {
  COHORT_CHECK_EQ(updates_.size(), buckets_.parameters().size());
  for (std::size_t p = 0; p < updates_.size(); ++p) {
    value_or_throw(check_update(updates_[p].optimizer,
                                {.parameters = buckets_.value_dtype(p), .gradients = buckets_.dtype()}));
  }
  moments_ = empty_moments(buckets_.layout(), buckets_.arena());
}

// A block of the arena is zeroed. Every moment begins on a cache line.
ShardedUpdate::Moments ShardedUpdate::empty_moments(const BucketLayout& layout, Arena& arena) const {
  constexpr std::size_t kLine = 64 / sizeof(float);
  const auto room_for = [](const BucketSlice& run) { return (run.count + kLine - 1) / kLine * kLine; };
  std::size_t count = 0;
  for (const Bucket& bucket : layout.buckets) {
    for (const BucketEntry& entry : bucket.entries) {
      const auto kept = static_cast<std::size_t>(num_moments(updates_[entry.parameter].optimizer));
      count += (kept + num_beside(entry)) * room_for(own_run(bucket, entry));
    }
  }
  Moments moments{.size_bytes = count * sizeof(float)};
  moments.firsts.resize(layout.buckets.size());
  moments.beside.resize(layout.buckets.size());
  for (std::size_t b = 0; b < layout.buckets.size(); ++b) {
    moments.firsts[b].resize(layout.buckets[b].entries.size());
    moments.beside[b].resize(layout.buckets[b].entries.size());
  }
  if (count == 0) return moments;
  moments.block = value_or_throw(
      arena.allocate(moments.size_bytes).within("no room for the moments in the shared memory of this rank"));
  float* next = moments.block.as<float>().data();
  for (std::size_t b = 0; b < layout.buckets.size(); ++b) {
    for (std::size_t e = 0; e < moments.firsts[b].size(); ++e) {
      const BucketEntry& entry = layout.buckets[b].entries[e];
      const OptimizerSettings& optimizer = updates_[entry.parameter].optimizer;
      const BucketSlice run = own_run(layout.buckets[b], entry);
      const MomentNames names = moment_names(optimizer);
      for (std::size_t which = 0; which < kMostMoments; ++which) {
        if (run.count == 0 || names[which].empty()) continue;
        moments.firsts[b][e][which] = next;
        std::fill_n(next, run.count, first_moment_value(optimizer));
        next += room_for(run);
      }
      for (std::size_t which = 0; which < kNumBeside; ++which) {
        if (run.count == 0 || !keeps(static_cast<Beside>(which), entry)) continue;
        moments.beside[b][e][which] = next;
        next += room_for(run);
      }
    }
  }
  return moments;
}

bool ShardedUpdate::keeps(Beside which, const BucketEntry& entry) const {
  switch (which) {
    case kMaster:
      return buckets_.value_dtype(entry.parameter) == DType::kBF16;
    case kAverage:
      return post_.has_average();
    case kMask:
      return post_.has_mask(entry.parameter);
    case kNumBeside:
      break;
  }
  return false;
}

std::size_t ShardedUpdate::num_beside(const BucketEntry& entry) const {
  std::size_t count = 0;
  for (std::size_t which = 0; which < kNumBeside; ++which) {
    count += keeps(static_cast<Beside>(which), entry) ? 1 : 0;
  }
  return count;
}

void ShardedUpdate::begin_post_steps(const AverageOptions& average, const ParameterMasks& masks) {
  post_ = PostSteps(average, masks);
  moments_ = {};  // gives its memory back first
  moments_ = empty_moments(buckets_.layout(), buckets_.arena());
  const auto& all = buckets_.layout().buckets;
  for (std::size_t b = 0; b < all.size(); ++b) {
    for (std::size_t e = 0; e < all[b].entries.size(); ++e) {
      float* const mask = moments_.beside[b][e][kMask];
      if (mask == nullptr) continue;
      const BucketEntry& entry = all[b].entries[e];
      const BucketSlice run = own_run(all[b], entry);
      const std::uint8_t* const from = masks[entry.parameter].data() + entry.from + (run.first - entry.first);
      std::copy_n(from, run.count, mask);
    }
  }
}

void ShardedUpdate::begin_masters() {
  const auto& all = buckets_.layout().buckets;
  for (std::size_t b = 0; b < all.size(); ++b) {
    for (std::size_t e = 0; e < all[b].entries.size(); ++e) {
      float* const master = moments_.beside[b][e][kMaster];
      if (master == nullptr) continue;
      const Numbers values = buckets_.values(all[b], own_run(all[b], all[b].entries[e]));
      update::widen_from_bf16(reinterpret_cast<const std::uint16_t*>(values.data), master, values.count);
    }
  }
}

BucketSlice ShardedUpdate::own_run(const Bucket& bucket, const BucketEntry& entry) const {
  return common_part({entry.first, entry.count}, own_slice(bucket));
}

// Without gradients.
UpdateSpans ShardedUpdate::spans_of(std::size_t index, std::size_t e, const BucketSlice& run) const {
  const Bucket& bucket = buckets_.layout().buckets[index];
  const std::size_t offset = run.first - own_run(bucket, bucket.entries[e]).first;
  UpdateSpans spans{.parameters = buckets_.values(bucket, run),
                    .gradients = {},
                    .moments = moments_.firsts[index][e],
                    .master = moments_.beside[index][e][kMaster]};
  for (float*& moment : spans.moments) moment = moment == nullptr ? nullptr : moment + offset;
  if (spans.master != nullptr) spans.master += offset;
  return spans;
}

void ShardedUpdate::prepare(std::size_t index, float* gradients, std::span<const std::uint8_t> used) {
  const Bucket& bucket = buckets_.layout().buckets[index];
  tensors_.open(index, gradients);
  for (std::size_t e = 0; e < bucket.entries.size(); ++e) {
    const BucketEntry& entry = bucket.entries[e];
    if (used[e] == 0 || !tensors_.has_two_passes(entry.parameter)) continue;
    TensorSums* const sums = tensors_.add(index, entry);
    const BucketSlice run = own_run(bucket, entry);
    if (run.count == 0) continue;
    UpdateSpans spans = spans_of(index, e, run);
    spans.directions = gradients + (run.first - own_slice(bucket).first);
    const ParameterUpdate& how = updates_[entry.parameter];
    first_pass(terms_.optimizer_of(how), terms_.step_of(how), spans, sums);
  }
}

update::PostSpans ShardedUpdate::post_spans(std::size_t index, std::size_t e, const BucketSlice& run) const {
  const Bucket& bucket = buckets_.layout().buckets[index];
  const auto& beside = moments_.beside[index][e];
  const update::PostSpans whole{.average = beside[kAverage], .mask = beside[kMask]};
  return whole.from(run.first - own_run(bucket, bucket.entries[e]).first);
}

// The average of a parameter that no rank has used moves as well: the parameter may be away from it.
void ShardedUpdate::update(std::size_t index, BucketSlice piece, const float* gradients,
                           std::span<const std::uint8_t> used) {
  const Bucket& bucket = buckets_.layout().buckets[index];
  const double share = post_.share();
  for (std::size_t e = 0; e < bucket.entries.size(); ++e) {
    const BucketEntry& entry = bucket.entries[e];
    const BucketSlice run = common_part({entry.first, entry.count}, piece);
    if (run.count == 0) continue;
    UpdateSpans spans = spans_of(index, e, run);
    const update::PostSpans post = post_spans(index, e, run);
    if (used[e] == 0) {
      update::post_step(spans, post, share);
      continue;
    }
    spans.gradients = {gradients + (run.first - piece.first), run.count, buckets_.dtype()};
    const ParameterUpdate& how = updates_[entry.parameter];
    UpdateStep step = terms_.step_of(how);
    step.tensor_factor = tensors_.factor(entry.parameter);
    update::apply_with_post_step(terms_.optimizer_of(how), step, spans, post, share);
  }
}

void ShardedUpdate::mask_gradients(std::size_t index, BucketSlice piece, float* gradients) const {
  const Bucket& bucket = buckets_.layout().buckets[index];
  for (std::size_t e = 0; e < bucket.entries.size(); ++e) {
    const BucketEntry& entry = bucket.entries[e];
    const BucketSlice run = common_part({entry.first, entry.count}, piece);
    if (run.count == 0 || !post_.has_mask(entry.parameter)) continue;
    update::hold_at_zero(post_spans(index, e, run).mask, gradients + (run.first - piece.first), run.count);
  }
}

void ShardedUpdate::average_parameters() {
  const double share = post_.share();
  if (share == 0) return;
  const auto& all = buckets_.layout().buckets;
  for (std::size_t b = 0; b < all.size(); ++b) {
    for (std::size_t e = 0; e < all[b].entries.size(); ++e) {
      const BucketSlice run = own_run(all[b], all[b].entries[e]);
      const update::PostSpans post{.average = moments_.beside[b][e][kAverage]};
      update::post_step({.parameters = buckets_.values(all[b], run)}, post, share);
    }
  }
}

std::int64_t ShardedUpdate::num_masked() const {
  std::int64_t count = 0;
  const auto& all = buckets_.layout().buckets;
  for (std::size_t b = 0; b < all.size(); ++b) {
    for (std::size_t e = 0; e < all[b].entries.size(); ++e) {
      const float* const mask = moments_.beside[b][e][kMask];
      if (mask != nullptr) count += std::count(mask, mask + own_run(all[b], all[b].entries[e]).count, 0.0f);
    }
  }
  return count;
}

// A rank holds as many pieces of a large parameter as the parameter has buckets.
std::vector<Piece> ShardedUpdate::pieces(const BucketLayout& layout, const Moments& moments,
                                         std::span<const Tensor> parameters) const {
  std::vector<Piece> all;
  for (std::size_t b = 0; b < layout.buckets.size(); ++b) {
    for (std::size_t e = 0; e < layout.buckets[b].entries.size(); ++e) {
      const BucketEntry& entry = layout.buckets[b].entries[e];
      const BucketSlice run = own_run(layout.buckets[b], entry);
      const Tensor& parameter = parameters[entry.parameter];
      const Shape in_memory = shape_in_memory(parameter.shape, parameter.order);
      const auto add = [&](std::string_view name, float* first) {
        if (run.count == 0) return;
        all.push_back({.name = fmt::format("{}/{}", parameter.name, name),
                       .dtype = DType::kF32,
                       .shape = parameter.shape,
                       .mine = flat_range(in_memory, entry.from + (run.first - entry.first), run.count),
                       .bytes = std::as_writable_bytes(std::span(first, run.count)),
                       .order = parameter.order});
      };
      const MomentNames names = moment_names(updates_[entry.parameter].optimizer);
      for (std::size_t which = 0; which < kMostMoments; ++which) {
        if (!names[which].empty()) add(names[which], moments.firsts[b][e][which]);
      }
      for (std::size_t which = 0; which < kNumBeside; ++which) {
        if (keeps(static_cast<Beside>(which), entry)) add(kBesideNames[which], moments.beside[b][e][which]);
      }
    }
  }
  return all;
}

// Parameters as vectors: their elements are in the order of their memory, which may be channels last.
std::vector<ShardedUpdate::Tensor> ShardedUpdate::vectors() const {
  std::vector<Tensor> vectors;
  for (std::size_t p = 0; p < updates_.size(); ++p) {
    vectors.push_back({fmt::format("{}", p), {buckets_.elements_of(p).count}});
  }
  return vectors;
}

void ShardedUpdate::move_to(const BucketLayout& layout, Communicator& group, Arena& arena) {
  Moments moved = empty_moments(layout, arena);
  const std::vector<Tensor> vectors = this->vectors();
  const auto source =
      value_or_throw(state::PeerSource::open(group, pieces(buckets_.layout(), moments_, vectors)));
  value_or_throw(state::move(pieces(layout, moved, vectors), *source).within("the moments were not moved"));
  moments_ = std::move(moved);
  tensors_.fit_to(layout);
}

std::vector<ShardedUpdate::Tensor> ShardedUpdate::tensors_of(std::span<const NamedTensor> parameters) {
  std::vector<Tensor> tensors;
  for (const NamedTensor& named : parameters) {
    Piece whole = whole_piece(named.name, named.tensor);
    tensors.push_back({std::move(whole.name), std::move(whole.shape), std::move(whole.order)});
  }
  return tensors;
}

void ShardedUpdate::visit(std::span<const NamedTensor> parameters, const StateVisitor& visitor) {
  COHORT_CHECK_EQ(parameters.size(), updates_.size());
  for (const Piece& piece : pieces(buckets_.layout(), moments_, tensors_of(parameters))) visitor(piece);
  std::vector<std::string> names;
  for (const NamedTensor& named : parameters) names.push_back(named.name);
  tensors_.visit(names, visitor);
  for (std::size_t p = 0; p < updates_.size(); ++p) {
    visitor(number_piece(fmt::format("{}/step", parameters[p].name), updates_[p].count));
  }
  post_.visit(visitor);
}

void ShardedUpdate::visit_post_steps(std::span<const NamedTensor> parameters, const StateVisitor& visitor) {
  for (const Piece& piece : pieces(buckets_.layout(), moments_, tensors_of(parameters))) {
    if (piece.name.ends_with("/average") || piece.name.ends_with("/mask")) visitor(piece);
  }
  post_.visit(visitor);
}

std::vector<Piece> ShardedUpdate::average_pieces() const {
  std::vector<Piece> averages = pieces(buckets_.layout(), moments_, vectors());
  std::erase_if(averages, [](const Piece& piece) { return !piece.name.ends_with("/average"); });
  return averages;
}

}  // namespace cohort::train
