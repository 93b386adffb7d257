#pragma once

#include <cstddef>
#include <cstdint>

// Limits of a pickle that is read. A file from somewhere else must not decide how much memory is used, or how
// deep functions call each other.

namespace cohort::interchange {

/// Values that are made while a pickle is read, and values of the finished tree: a value that is referred to
/// ten times counts ten times there.
inline constexpr std::size_t kMostValues = std::size_t{1} << 24;
/// Values inside each other. A list that contains itself exceeds it, too.
inline constexpr std::size_t kMostDepth = 100;
/// Lists and the like that were begun and not ended.
inline constexpr std::size_t kMostMarks = 1000;
inline constexpr std::size_t kMostTextBytes = std::size_t{1} << 24;
/// Texts of the finished tree together.
inline constexpr std::size_t kMostTreeTextBytes = std::size_t{1} << 28;
inline constexpr std::size_t kMostNameBytesOfGlobal = 256;
inline constexpr std::size_t kMostDims = 64;
/// The size of a tensor that repeats elements of its storage, as torch.Tensor.expand() makes it. Other
/// tensors are no larger than their file.
inline constexpr std::uint64_t kMostRepeatedBytes = std::uint64_t{1} << 30;

}  // namespace cohort::interchange
