#include "comm/shared_memory/arena.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <numeric>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kPage = 4096;

std::unique_ptr<Arena> make_arena(std::size_t capacity_bytes) {
  return value_or_throw(Arena::create(capacity_bytes));
}

ArenaBlock take(Arena& arena, std::size_t size_bytes) {
  return value_or_throw(arena.allocate(size_bytes));
}

bool is_zero(const ArenaBlock& block) {
  const auto bytes = block.bytes();
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

void spoil(const ArenaBlock& block) {
  std::memset(block.bytes().data(), 0xff, block.bytes().size());
}

/// Bytes that the kernel has allocated for the arena's file.
std::size_t resident_bytes(const Arena& arena) {
  struct stat facts {};
  EXPECT_EQ(::fstat(arena.file().number(), &facts), 0);
  return static_cast<std::size_t>(facts.st_blocks) * 512;
}

TimePoint soon() {
  return std::chrono::steady_clock::now() + 15s;
}

TEST(Arena, GivesZeroedMemoryOnBoundaries) {
  const auto arena = make_arena(4 * kMiB);
  std::vector<ArenaBlock> blocks;
  for (const std::size_t size :
       std::initializer_list<std::size_t>{0, 1, 63, 64, 65, 4095, 4096, 4097, 70'001, 3}) {
    blocks.push_back(take(*arena, size));
    const auto address = reinterpret_cast<std::uintptr_t>(blocks.back().bytes().data());
    EXPECT_EQ(address % (size >= kPage ? kPage : 64), 0U) << size;
    EXPECT_GE(blocks.back().bytes().size(), size);
    EXPECT_TRUE(is_zero(blocks.back())) << size;
    spoil(blocks.back());
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const bool apart = blocks[i].offset() >= blocks[k].offset() + blocks[k].bytes().size() ||
                         blocks[k].offset() >= blocks[i].offset() + blocks[i].bytes().size();
      EXPECT_TRUE(apart) << i << " and " << k;
    }
  }
}

TEST(Arena, ReusedMemoryIsZeroed) {
  const auto arena = make_arena(64 * kPage);
  for (const std::size_t size : std::initializer_list<std::size_t>{64, 1000, 4096, 20'000}) {
    std::uint64_t offset = 0;
    {
      const ArenaBlock block = take(*arena, size);
      offset = block.offset();
      spoil(block);
    }
    const ArenaBlock again = take(*arena, size);
    EXPECT_EQ(again.offset(), offset) << "not reused";
    EXPECT_TRUE(is_zero(again)) << size;
  }
}

TEST(Arena, SaysThatItIsExhaustedAndWhatToDo) {
  const auto arena = make_arena(16 * kPage);
  const ArenaBlock most = take(*arena, 10 * kPage);
  const Result<ArenaBlock> more = arena->allocate(6 * kPage);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), ErrorCode::kExhausted);
  EXPECT_NE(more.error().message().find("24 KiB"), std::string::npos) << more.error().text();
  EXPECT_FALSE(more.error().remedy().empty());
  EXPECT_TRUE(arena->allocate(5 * kPage)) << "the remaining memory can still be allocated";
  EXPECT_FALSE(arena->allocate(std::numeric_limits<std::size_t>::max() / 2));
  const Result<ArenaBlock> endless = arena->allocate(std::numeric_limits<std::size_t>::max());
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code(), ErrorCode::kExhausted);
}

// Freeing adjacent blocks in any order gives one free range again.
TEST(Arena, JoinsFreePiecesInAnyOrder) {
  constexpr std::size_t kPieces = 5;
  const auto arena = make_arena((kPieces * 2 + 1) * kPage);
  std::vector<std::size_t> order(kPieces);
  std::iota(order.begin(), order.end(), 0);
  do {
    std::vector<ArenaBlock> pieces;
    for (std::size_t i = 0; i < kPieces; ++i) pieces.push_back(take(*arena, 2 * kPage));
    EXPECT_FALSE(arena->allocate(64));
    for (const std::size_t piece : order) pieces[piece] = ArenaBlock();
    EXPECT_EQ(arena->allocated_bytes(), 0U);
    const Result<ArenaBlock> whole = arena->allocate(kPieces * 2 * kPage);
    ASSERT_TRUE(whole) << whole.error().text();
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Arena, GivesMemoryBackToTheMachine) {
  const auto arena = make_arena(64 * kMiB);
  const std::size_t before = resident_bytes(*arena);
  EXPECT_LE(before, 2 * kPage) << "memory is allocated only for used blocks";
  {
    const ArenaBlock block = take(*arena, 8 * kMiB);
    EXPECT_GE(resident_bytes(*arena), before + 8 * kMiB) << "an allocated block is backed by memory";
  }
  EXPECT_EQ(resident_bytes(*arena), before);
  EXPECT_EQ(arena->allocated_bytes(), 0U);
}

TEST(Arena, RecognisesAddressesInside) {
  const auto arena = make_arena(16 * kPage);
  const std::byte* first = arena->data();
  const std::size_t size = arena->capacity_bytes();
  EXPECT_EQ(arena->offset_of(first, 1), 0U);
  EXPECT_EQ(arena->offset_of(first, size), 0U);
  EXPECT_EQ(arena->offset_of(first, size + 1), std::nullopt);
  EXPECT_EQ(arena->offset_of(first + 1, size), std::nullopt);
  EXPECT_EQ(arena->offset_of(first + size - 1, 1), size - 1);
  EXPECT_EQ(arena->offset_of(first + size - 1, 2), std::nullopt);
  EXPECT_EQ(arena->offset_of(first + size, 1), std::nullopt);
  EXPECT_EQ(arena->offset_of(first - 1, 1), std::nullopt);
  EXPECT_EQ(arena->offset_of(first - 1, 2), std::nullopt);
  EXPECT_EQ(arena->offset_of(first + 5, std::numeric_limits<std::size_t>::max()), std::nullopt);
  const int elsewhere = 0;
  EXPECT_EQ(arena->offset_of(&elsewhere, sizeof elsewhere), std::nullopt);
  const ArenaBlock block = take(*arena, 100);
  EXPECT_EQ(arena->offset_of(block.bytes().data(), 100), block.offset());
}

TEST(Arena, RetiredBlocksAreFreedByTheFenceOnly) {
  const auto arena = make_arena(4 * kPage);
  ArenaBlock block = take(*arena, 3 * kPage);
  spoil(block);
  const std::byte* data = block.bytes().data();
  arena->retire(std::move(block));
  EXPECT_FALSE(arena->allocate(64)) << "other members may still read it";
  EXPECT_EQ(data[5], std::byte{0xff});
  ASSERT_TRUE(arena->fence({}, soon()));
  EXPECT_TRUE(arena->allocate(3 * kPage));
}

TEST(Arena, CannotBeCutShort) {
  const auto arena = make_arena(4 * kPage);
  EXPECT_NE(::ftruncate(arena->file().number(), 0), 0);
  EXPECT_NE(::ftruncate(arena->file().number(), 100 * kPage), 0);
  EXPECT_NE(::fcntl(arena->file().number(), F_ADD_SEALS, F_SEAL_WRITE), 0);
}

TEST(Arena, AMovedBlockIsGivenBackOnce) {
  const auto arena = make_arena(8 * kPage);
  ArenaBlock first = take(*arena, kPage);
  ArenaBlock second = std::move(first);
  ArenaBlock third = take(*arena, 2 * kPage);
  EXPECT_EQ(arena->allocated_bytes(), 3 * kPage);
  third = std::move(second);
  second = ArenaBlock();
  EXPECT_EQ(arena->allocated_bytes(), kPage);
  third = ArenaBlock();
  EXPECT_EQ(arena->allocated_bytes(), 0U);
}

TEST(Arena, ServesSeveralThreads) {
  const auto arena = make_arena(16 * kMiB);
  const auto work = [&](std::size_t seed) {
    std::vector<ArenaBlock> blocks;
    for (std::size_t i = 0; i < 300; ++i) {
      const ArenaBlock& block = blocks.emplace_back(take(*arena, (seed * 977 + i * 131) % 9000));
      EXPECT_TRUE(is_zero(block));
      spoil(block);
      if (blocks.size() > 7) blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i % 7));
    }
  };
  {
    const std::jthread a(work, 1);
    const std::jthread b(work, 2);
    const std::jthread c(work, 3);
  }
  EXPECT_EQ(arena->allocated_bytes(), 0U);
}

TEST(Mapping, EveryColourMapsTheSameFile) {
  const auto arena = make_arena(kMiB);
  const comm::Mapping one = value_or_throw(comm::Mapping::of(arena->file(), kMiB, 0));
  const comm::Mapping other = value_or_throw(comm::Mapping::of(arena->file(), kMiB, 300));
  one.data()[kMiB - 1] = std::byte{77};
  EXPECT_EQ(other.data()[kMiB - 1], std::byte{77});
  EXPECT_EQ(arena->data()[kMiB - 1], std::byte{77});
}

TEST(Arena, AChildOfAForkWritesToACopyOfItsOwn) {
  const auto arena = make_arena(kMiB);
  const ArenaBlock block = take(*arena, 3 * kPage);
  block.bytes()[5] = std::byte{1};
  const pid_t child = ::fork();
  if (child == 0) {
    const bool sees = block.bytes()[5] == std::byte{1};
    spoil(block);
    const bool takes_none = !arena->allocate(kPage);
    ::_exit(sees && takes_none ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(block.bytes()[5], std::byte{1});
  EXPECT_EQ(block.bytes()[6], std::byte{0});
}

}  // namespace
}  // namespace cohort::test
