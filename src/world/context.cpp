#include "launch/variable_reader.h"
#include "world/group_parts.h"
#include "world/join.h"

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

/// The arena and the rendezvous under the communicators of a Context, and the blocks that allocate()
/// returned.
struct Context::World {
  LaunchFacts facts;
  std::unique_ptr<Arena> arena;
  std::mutex mutex;
  std::vector<ArenaBlock> blocks;  // after `arena`, to be destroyed before it
  std::unique_ptr<net::Meeting> meeting;
  std::unique_ptr<Communicator> group;  // until the Context has it
  std::function<Result<std::unique_ptr<Communicator>>()> shrink;
};

std::shared_ptr<Context::World> Context::join(const ContextOptions& options) {
  auto own = std::make_shared<World>();
  own->facts = value_or_throw(launch_facts(own_environment()));
  const LimitFacts& limits = own->facts.limits;
  own->arena = value_or_throw(Arena::create(options.arena_bytes));
  world::World joined = value_or_throw(
      world::join(own->facts, *own->arena,
                  {.limit = options.limit.value_or(limits.call.value_or(DefaultLimit::kCall)),
                   .liveness = options.liveness.value_or(limits.liveness.value_or(DefaultLimit::kLiveness)),
                   .link_limit = options.link_limit,
                   .meeting_limit = options.meeting_limit,
                   .links = options.links,
                   .warn = warnings_to(options.log, options.log_level, own->facts.rank)}));
  own->meeting = std::move(joined.meeting);
  own->group = std::move(joined.group);
  own->shrink = std::move(joined.shrink);
  if (own->facts.rank == 0 && options.log != nullptr && !joined.explanation.empty()) {
    write_to(*options.log, LogLevel::kInfo, own->facts.rank, joined.explanation);
  }
  return own;
}

Context::Context(const ContextOptions& options) : Context(join(options)) {}

Context::Context(std::shared_ptr<World> world)
    : Group(Parts::make(world, *world->arena, std::move(world->group))), world_(std::move(world)) {}

Context::~Context() = default;

int Context::local_rank() const {
  return world_->facts.local_rank;
}

int Context::local_size() const {
  return world_->facts.local_size;
}

void Context::shrink() {
  if (!world_->shrink) {
    throw Error(ErrorCode::kUnsupported, "shrink() needs a fault-tolerant backend")
        .with_remedy("Use the backend mpi with Open MPI 5, mpirun --with-ft ulfm; or start the job again.");
  }
  parts_->communicator = value_or_throw(world_->shrink());
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
