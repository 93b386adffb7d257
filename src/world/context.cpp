#include "launch/variable_reader.h"
#include "world/group_parts.h"
#include "world/membership.h"

#include <algorithm>
#include <cohort/context.h>
#include <fmt/format.h>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace cohort {
namespace {

void write_to(LogSink& sink, LogLevel level, int rank, const std::string& text) {
  sink.write({.level = level, .time = std::chrono::system_clock::now(), .rank = rank, .text = text});
}

std::function<void(const std::string&)> warnings_to(LogSink* sink, LogLevel level, int rank) {
  if (sink == nullptr || level > LogLevel::kWarning) return {};
  return [sink, rank](const std::string& text) { write_to(*sink, LogLevel::kWarning, rank, text); };
}

}  // namespace

/// The arena and the generations under the communicators of a Context, and the blocks that allocate()
/// returned.
struct Context::World {
  std::unique_ptr<Arena> arena;
  std::mutex mutex;
  std::vector<ArenaBlock> blocks;  // after `arena`, to be destroyed before it
  std::unique_ptr<world::Membership> membership;

  /// The ranks of the own role that are on this host, by their positions among all members.
  std::vector<std::uint64_t> ids_here() const {
    std::vector<std::uint64_t> ids;
    for (const Member& member : membership->members()) {
      const bool is_here = member.role == membership->own().role && member.host == membership->own().host;
      if (is_here) ids.push_back(member.id);
    }
    return ids;
  }
};

std::shared_ptr<Context::World> Context::join(const ContextOptions& options) {
  auto own = std::make_shared<World>();
  const LaunchFacts facts = value_or_throw(launch_facts(own_environment()));
  const LimitFacts& limits = facts.limits;
  own->arena = value_or_throw(Arena::create(options.arena_bytes));
  own->membership = value_or_throw(world::Membership::join(
      facts, *own->arena,
      {.limit = options.limit.value_or(limits.call.value_or(DefaultLimit::kCall)),
       .liveness = options.liveness.value_or(limits.liveness.value_or(DefaultLimit::kLiveness)),
       .link_limit = options.link_limit,
       .meeting_limit = options.meeting_limit,
       .links = options.links,
       .warn = warnings_to(options.log, options.log_level, facts.rank)}));
  const std::string explanation = own->membership->explanation();
  if (facts.rank == 0 && options.log != nullptr && !explanation.empty()) {
    write_to(*options.log, LogLevel::kInfo, facts.rank, explanation);
  }
  return own;
}

Context::Context(const ContextOptions& options) : Context(join(options)) {}

Context::Context(std::shared_ptr<World> world) : Group(nullptr), world_(std::move(world)) {
  take_groups();
}

Context::~Context() = default;

void Context::take_groups() {
  world::Membership::Groups groups = world_->membership->take_groups();
  everyone_.reset();
  if (groups.everyone) {
    everyone_ = made_of(Parts::make(world_, *world_->arena, std::move(groups.everyone)));
  }
  parts_ = Parts::make(world_, *world_->arena, std::move(groups.own));
}

int Context::local_rank() const {
  const std::vector<std::uint64_t> ids = world_->ids_here();
  return static_cast<int>(std::find(ids.begin(), ids.end(), id()) - ids.begin());
}

int Context::local_size() const {
  return static_cast<int>(world_->ids_here().size());
}

Role Context::role() const {
  return world_->membership->own().role;
}

std::uint64_t Context::id() const {
  return world_->membership->own().id;
}

std::uint32_t Context::generation() const {
  return world_->membership->generation();
}

const std::vector<Member>& Context::members() const {
  return world_->membership->members();
}

Group& Context::everyone() {
  return everyone_ ? *everyone_ : *this;
}

std::vector<Member> Context::survivors() {
  return value_or_throw(world_->membership->survivors());
}

void Context::form(const std::vector<Member>& members) {
  value_or_throw(world_->membership->form(members));
  take_groups();
}

void* Context::allocate_elements(std::size_t count, std::size_t element_bytes) {
  if (count > world_->arena->capacity_bytes() / element_bytes) {
    throw UsageError(fmt::format("cannot allocate {} elements of {} bytes: the arena has {} bytes", count,
                                 element_bytes, world_->arena->capacity_bytes()))
        .with_remedy("Set ContextOptions::arena_bytes to a larger value.");
  }
  ArenaBlock block = value_or_throw(world_->arena->allocate(count * element_bytes));
  void* memory = block.bytes().data();
  const std::lock_guard lock(world_->mutex);
  world_->blocks.push_back(std::move(block));
  return memory;
}

}  // namespace cohort
