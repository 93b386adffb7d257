#pragma once

#include "layout/random_slices.h"
#include <cohort/state.h>

#include <cstring>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace cohort::test {

/// A tensor of a state whose elements are a function of its name, their index and the version of the state.
struct TestTensor {
  std::string name{};
  DType dtype = DType::kF32;
  Shape shape{};
  Merge merge = Merge::kSame;
};

/// The bits of an element. One row of 100 elements in four changes from each version to the next.
inline std::uint64_t bits_of(const TestTensor& tensor, std::size_t index, int version) {
  int changed = 0;
  for (int v = 1; v <= version; ++v) {
    if ((index / 100 + tensor.name.size()) % 4 == static_cast<std::size_t>(v) % 4) changed = v;
  }
  std::uint64_t bits =
      (index + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(changed) * 0xbf58476d1ce4e5b9U;
  for (const char letter : tensor.name) bits = (bits ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return bits ^ (bits >> 29);
}

/// The state as one rank holds it, with memory of its own.
class RankState {
 public:
  void add(const TestTensor& tensor, const Slice& mine, PieceMemory memory = PieceMemory::kOwn) {
    held_.push_back({tensor, mine, elements_of(tensor.shape, mine), {}, memory});
    held_.back().bytes.resize(mine.count * size_bytes(tensor.dtype), std::byte{0xee});
  }

  /// Gives every element its value.
  void fill(int version) {
    for (Held& held : held_) {
      for (std::size_t i = 0; i < held.elements.size(); ++i) {
        const std::uint64_t bits = bits_of(held.tensor, held.elements[i], version);
        const std::size_t size = size_bytes(held.tensor.dtype);
        std::memcpy(held.bytes.data() + i * size, &bits, size);
      }
    }
  }

  std::vector<Piece> pieces() {
    std::vector<Piece> all;
    for (Held& held : held_) {
      all.push_back({.name = held.tensor.name,
                     .dtype = held.tensor.dtype,
                     .shape = held.tensor.shape,
                     .mine = held.mine,
                     .merge = held.tensor.merge,
                     .bytes = held.bytes,
                     .memory = held.memory});
    }
    return all;
  }

  /// The first element that has another value; empty if all are right.
  std::string first_wrong(int version) const {
    for (const Held& held : held_) {
      const std::size_t size = size_bytes(held.tensor.dtype);
      for (std::size_t i = 0; i < held.elements.size(); ++i) {
        const std::uint64_t bits = bits_of(held.tensor, held.elements[i], version);
        if (std::memcmp(held.bytes.data() + i * size, &bits, size) == 0) continue;
        return fmt::format("element {} of '{}'", held.elements[i], held.tensor.name);
      }
    }
    return "";
  }

  std::size_t size_bytes_of(std::size_t piece) const { return held_[piece].bytes.size(); }
  std::size_t num_pieces() const { return held_.size(); }

 private:
  struct Held {
    TestTensor tensor;
    Slice mine;
    std::vector<std::size_t> elements;
    std::vector<std::byte> bytes;
    PieceMemory memory;
  };
  std::vector<Held> held_;
};

/// Some tensors of all types, the same for the same seed; scalars and empty ones among them.
inline std::vector<TestTensor> random_tensors(std::uint64_t seed, std::size_t count = 5) {
  Dice dice(seed);
  std::vector<TestTensor> tensors;
  for (std::size_t t = 0; t < count; ++t) {
    const bool is_of_model = t % 2 == 0;
    tensors.push_back({.name = fmt::format("layer{}.weight{}", t, is_of_model ? "" : "/exp_avg"),
                       .dtype = kAllDTypes[(seed + t) % std::size(kAllDTypes)],
                       .shape = dice.shape()});
  }
  return tensors;
}

/// Two neighbours have up to three elements in common.
inline Slice overlapping_part(const Shape& shape, std::size_t rank, std::size_t world, std::size_t extra) {
  const std::size_t count = num_elements(shape), first = count * rank / world;
  const std::size_t begin = first - std::min(first, extra);
  return flat_range(shape, begin, count * (rank + 1) / world - begin);
}

/// The tensors on `world` ranks, in a layout at random: shared without overlap, held by all, in parts that
/// overlap, or in parts at random while one rank has all.
inline std::vector<RankState> random_layout(const std::vector<TestTensor>& tensors, std::uint64_t seed,
                                            std::size_t world) {
  Dice dice(seed);
  std::vector<RankState> ranks(world);
  for (const TestTensor& tensor : tensors) {
    const std::size_t kind = dice.below(4);
    const std::vector<Slice> shared = dice.shared_by(world, tensor.shape);
    const std::size_t owner = dice.below(world);
    for (std::size_t r = 0; r < world; ++r) {
      const bool has_all = kind == 0 || (kind == 1 && r == owner);
      const Slice part = kind == 1   ? dice.slice(tensor.shape)
                         : kind == 2 ? overlapping_part(tensor.shape, r, world, dice.below(4))
                                     : shared[r];
      ranks[r].add(tensor, has_all ? whole(tensor.shape) : part);
    }
  }
  return ranks;
}

}  // namespace cohort::test
