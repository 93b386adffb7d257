#include "checkpoint/golden_state.h"

#include "checkpoint/saver.h"
#include "comm/conformance/shared_memory_kind.h"
#include "layout/slice.h"

#include <cstring>

namespace cohort::test {
namespace {

using checkpoint::Saver;

// Random bits from a number: SplitMix64.
std::uint64_t mixed(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

// Floating-point numbers have an even exponent, so that all of them are finite.
std::uint64_t bits_of(DType dtype, std::uint64_t random) {
  switch (dtype) {
    case DType::kF32:
      return random & ~(std::uint64_t{1} << 23);
    case DType::kF64:
      return random & ~(std::uint64_t{1} << 52);
    case DType::kBF16:
      return random & ~(std::uint64_t{1} << 7);
    case DType::kF16:
      return random & ~(std::uint64_t{1} << 10);
    case DType::kBool:
      return random & 1;
    default:
      return random;
  }
}

std::uint64_t element(const GoldenTensor& tensor, std::size_t index, std::int64_t step) {
  const bool is_changed = step > 3 && index >= tensor.first_changed && index < tensor.end_changed;
  const std::uint64_t seed = tensor.seed * 1'000'000 + (is_changed ? 500'000 : 0) + index;
  return bits_of(tensor.dtype, mixed(tensor.seed == 0 ? 0 : seed));
}

// The part that rank `rank` holds of a tensor that is merged: element i is 2 i + 2 rank, so the mean is 2 i
// + 1.
std::vector<std::byte> merged_bytes(std::size_t count, float of_rank) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const float number = 2 * static_cast<float>(i) + of_rank;
    const auto more = std::as_bytes(std::span(&number, 1));
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

Slice columns(const Shape& shape, std::size_t first, std::size_t count) {
  return {.boxes = {{.first = {0, first}, .lengths = {shape[0], count}}}, .count = shape[0] * count};
}

std::vector<Slice> whole_on_both(const Shape& shape) {
  return {whole(shape), whole(shape)};
}

/// Memory for what one rank holds.
struct RankState {
  RankState(std::int64_t step, int rank) {
    for (const GoldenTensor& tensor : golden_tensors()) {
      memory.push_back(golden_bytes_of(tensor, step, rank));
      pieces.push_back({.name = tensor.name,
                        .dtype = tensor.dtype,
                        .shape = tensor.shape,
                        .mine = tensor.held[static_cast<std::size_t>(rank)],
                        .merge = tensor.merge,
                        .bytes = memory.back()});
    }
  }

  std::vector<std::vector<std::byte>> memory;
  std::vector<Piece> pieces;
};

Status written(const WorldOutcome& outcome) {
  if (outcome.ok()) return {};
  return Error(ErrorCode::kBug, outcome.text());
}

Status check_reports(Saver& saver) {
  for (const checkpoint::SaveReport& report : saver.take_reports()) COHORT_RETURN_IF_ERROR(report.status);
  return {};
}

}  // namespace

std::vector<GoldenTensor> golden_tensors() {
  const Shape embedding{32, 16}, weight{4, 6}, small{3, 4};
  return {
      {"embedding.weight", DType::kF32, embedding, whole_on_both(embedding), 1, Merge::kSame, 130, 200},
      {"layers.0.weight", DType::kF32, weight, whole_on_both(weight), 2, Merge::kSame},
      {"layers.0.bias", DType::kBF16, {4}, whole_on_both({4}), 3, Merge::kSame, 0, 4},
      {"layers.1.weight", DType::kF16, small, whole_on_both(small), 4, Merge::kSame},
      {"layers.1.num_batches", DType::kI64, {}, whole_on_both({}), 5, Merge::kSame, 0, 1},
      {"layers.1.running_mean", DType::kF64, {3}, whole_on_both({3}), 6, Merge::kSame},
      {"head.größe", DType::kU8, {0, 3}, whole_on_both({0, 3}), 7, Merge::kSame},
      {"head.mask", DType::kBool, {5}, whole_on_both({5}), 8, Merge::kSame},
      {"head.i8", DType::kI8, {3}, whole_on_both({3}), 9, Merge::kSame},
      {"head.i16", DType::kI16, {3}, whole_on_both({3}), 10, Merge::kSame},
      {"head.i32", DType::kI32, {3}, whole_on_both({3}), 11, Merge::kSame},
      {"layers.0.weight/exp_avg", DType::kF32, weight, {columns(weight, 0, 2), columns(weight, 2, 4)}, 12},
      {"layers.1.weight/exp_avg", DType::kF16, small, {flat_range(small, 0, 5), flat_range(small, 5, 7)}, 13},
      {"embedding.weight/exp_avg_sq", DType::kF32, embedding, whole_on_both(embedding), 0, Merge::kSame},
      {"layers.0.bias/average", DType::kF32, {4}, whole_on_both({4}), 0, Merge::kMean},
  };
}

std::vector<std::byte> golden_bytes(const GoldenTensor& tensor, std::int64_t step) {
  const std::size_t count = num_elements(tensor.shape);
  if (tensor.merge == Merge::kMean) return merged_bytes(count, 1);
  const std::size_t size = size_bytes(tensor.dtype);
  std::vector<std::byte> bytes(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = element(tensor, i, step);
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

std::vector<std::byte> golden_bytes_of(const GoldenTensor& tensor, std::int64_t step, int rank) {
  const Slice& mine = tensor.held[static_cast<std::size_t>(rank)];
  if (tensor.merge == Merge::kMean) return merged_bytes(mine.count, 2 * static_cast<float>(rank));
  const std::vector<std::byte> all = golden_bytes(tensor, step);
  const std::size_t size = size_bytes(tensor.dtype);
  std::vector<std::byte> bytes(mine.count * size);
  for (const Run& run : runs(whole(tensor.shape), mine)) {
    std::memcpy(bytes.data() + run.to * size, all.data() + run.from * size, run.count * size);
  }
  return bytes;
}

checkpoint::Course golden_course(std::int64_t step) {
  return {.position = {.step = step,
                       .epoch = 1,
                       .step_in_epoch = step - 2,
                       .samples = step * 16,
                       .evaluations_since_best = step - 3,
                       .best_loss = 0.25},
          .ledger = {.samples = 40, .batch_size = 16, .micro_batches = 4},
          .loss = step == 3 ? 0.25 : 0.5,
          .best = checkpoint::BestEvaluation{.epoch = 1, .step = 3, .loss = 0.25, .accuracy = 0.75},
          .settings = {{"model.kind", "gpt"}, {"train.seed", "7"}},
          .config = "[train]\nseed = 7\n",
          .bucket_order = {1, 0, 2}};
}

Status write_golden(FileSystem& files, const std::string& folder) {
  const Kind kind = shared_memory_kind("shared_memory", InArena::kNobodys);
  return written(kind.run(2,
                          [&](Seat& seat) -> Status {
                            COHORT_ASSIGN_OR_RETURN(
                                const auto saver, Saver::make(*seat, files,
                                                              {.folder = folder,
                                                               .writing = checkpoint::Writing::kAtOnce,
                                                               .compression = checkpoint::Compression::kZstd,
                                                               .full_every = 2}));
                            for (const std::int64_t step : {3, 4}) {
                              RankState state(step, seat.index());
                              COHORT_RETURN_IF_ERROR(saver->save(state.pieces, golden_course(step)));
                            }
                            COHORT_RETURN_IF_ERROR(saver->finish());
                            return check_reports(*saver);
                          },
                          {}));
}

Status write_example(FileSystem& files, const std::string& folder) {
  const Kind kind = shared_memory_kind("shared_memory", InArena::kNobodys);
  return written(
      kind.run(1,
               [&](Seat& seat) -> Status {
                 COHORT_ASSIGN_OR_RETURN(
                     const auto saver,
                     Saver::make(*seat, files, {.folder = folder, .writing = checkpoint::Writing::kAtOnce}));
                 std::vector<float> numbers{0, 1, 2, 3, 4, 5};
                 const Piece piece{.name = "weight",
                                   .dtype = DType::kF32,
                                   .shape = {2, 3},
                                   .mine = whole({2, 3}),
                                   .bytes = std::as_writable_bytes(std::span(numbers))};
                 checkpoint::Course course{.position = {.step = 1, .step_in_epoch = 1, .samples = 4},
                                           .ledger = {.samples = 8, .batch_size = 4, .micro_batches = 2},
                                           .settings = {{"train.seed", "1"}}};
                 COHORT_RETURN_IF_ERROR(saver->save(std::span(&piece, 1), course));
                 COHORT_RETURN_IF_ERROR(saver->finish());
                 return check_reports(*saver);
               },
               {}));
}

}  // namespace cohort::test
