#include "comm/shared_memory/group_view.h"

#include <fmt/format.h>
#include <new>

namespace cohort::comm {
namespace {

std::size_t rounded_up(std::size_t value) {
  return (value + kCacheLine - 1) / kCacheLine * kCacheLine;
}

std::size_t parts_bytes(int world) {
  return rounded_up(static_cast<std::size_t>(world) * sizeof(PartEntry));
}

std::size_t block_bytes(int world) {
  return sizeof(MemberBlock) + 2 * parts_bytes(world);
}

// Two stages and two results; see MemberView.
std::size_t stages_bytes() {
  return 4 * kStageBytes;
}

bool lies_in(std::uint64_t offset, std::size_t length, std::size_t whole) {
  return offset <= whole && length <= whole - offset;
}

}  // namespace

Result<OwnBlocks> OwnBlocks::allocate(Arena& arena, int world) {
  OwnBlocks own;
  COHORT_ASSIGN_OR_RETURN(own.block, arena.allocate(block_bytes(world)));
  COHORT_ASSIGN_OR_RETURN(own.stages, arena.allocate(stages_bytes()));
  auto* block = new (own.block.bytes().data()) MemberBlock;
  block->stages = own.stages.offset();
  return own;
}

Result<GroupView> GroupView::of(Neighbours& neighbours, std::span<const int> members,
                                std::span<const std::uint64_t> offsets, const GroupFacts& facts) {
  GroupView view;
  view.facts_ = facts;
  view.arena_ = &neighbours.arena();
  const int world = static_cast<int>(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::byte* memory = neighbours.memory_of(members[i]);
    const std::size_t memory_bytes = neighbours.memory_bytes_of(members[i]);
    if (!lies_in(offsets[i], block_bytes(world), memory_bytes) || offsets[i] % kCacheLine != 0) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("corrupt block offset from rank {}: {}, expected a multiple of {} below {}",
                               facts.global_rank(static_cast<int>(i)), offsets[i], kCacheLine,
                               memory_bytes - block_bytes(world)));
    }
    MemberView member;
    member.memory = memory;
    member.header = &neighbours.header_of(members[i]);
    member.block = reinterpret_cast<MemberBlock*>(memory + offsets[i]);
    std::byte* behind = memory + offsets[i] + sizeof(MemberBlock);
    const std::uint64_t stages = member.block->stages;
    if (!lies_in(stages, stages_bytes(), memory_bytes)) {
      return Error(
          ErrorCode::kCorrupt,
          fmt::format("corrupt stages offset from rank {}: {}, expected below {}",
                      facts.global_rank(static_cast<int>(i)), stages, memory_bytes - stages_bytes()));
    }
    for (std::size_t parity = 0; parity < 2; ++parity) {
      member.parts[parity] = reinterpret_cast<PartEntry*>(behind + parity * parts_bytes(world));
      member.stage[parity] = memory + stages + parity * kStageBytes;
      member.result[parity] = memory + stages + (2 + parity) * kStageBytes;
    }
    view.members_.push_back(member);
    if (member.header->passes_barriers == 0) view.needs_fence_ = true;
    if (static_cast<int>(i) != facts.rank) view.other_headers_.push_back(member.header);
  }
  view.sources.resize(members.size());
  view.targets.resize(members.size() + 1);
  return view;
}

}  // namespace cohort::comm
