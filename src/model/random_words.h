#pragma once

#include <cstdint>
#include <span>

namespace cohort::model {

/// The arguments of RandomStream(seed, stream).
struct StreamName {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// Writes the words of consecutive blocks of a stream: words[4 i + j] becomes word j of
/// RandomStream(seed, stream).block(first_block + i). The size of `words` is a multiple of four.
///
/// Cost: with AVX2, much less than one call of block() for each block.
void random_words(const StreamName& name, std::uint64_t first_block, std::span<std::uint32_t> words);

/// The same without AVX2.
void random_words_plain(const StreamName& name, std::uint64_t first_block, std::span<std::uint32_t> words);

}  // namespace cohort::model
