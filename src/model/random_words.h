#pragma once

#include <cstdint>
#include <span>

namespace cohort::model {

/// Which random stream: RandomStream(seed, stream).
struct StreamName {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// The words of consecutive blocks of a stream, many at once: words[4 i + j] becomes word j of
/// RandomStream(seed, stream).block(first_block + i). As many blocks as `words`, a multiple of four, holds.
/// Cost: much less than asking for each block, where the machine has AVX2.
void random_words(const StreamName& name, std::uint64_t first_block, std::span<std::uint32_t> words);

/// The same without special instructions.
void random_words_plain(const StreamName& name, std::uint64_t first_block, std::span<std::uint32_t> words);

}  // namespace cohort::model
