#include "comm/communicator.h"
#include "comm/shared_memory/arena.h"
#include "launch/own_environment.h"
#include "world/join.h"

#include <cohort/context.h>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <vector>

namespace cohort {

struct Context::Parts {
  LaunchFacts facts;
  std::unique_ptr<Arena> arena;
  std::mutex mutex;
  std::vector<ArenaBlock> blocks;  // before the arena goes
  std::unique_ptr<net::Meeting> meeting;
  std::unique_ptr<Communicator> group;
  std::function<Result<std::unique_ptr<Communicator>>()> shrink;

  void run(const Call& call) { value_or_throw(group->run(call)); }
};

Context::Context(const ContextOptions& options) : parts_(std::make_unique<Parts>()) {
  parts_->facts = value_or_throw(launch_facts(own_environment()));
  parts_->arena = value_or_throw(Arena::create(options.arena_bytes));
  world::World world = value_or_throw(world::join(parts_->facts, *parts_->arena,
                                                  {.limit = options.limit,
                                                   .liveness = options.liveness,
                                                   .link_limit = options.link_limit,
                                                   .meeting_limit = options.meeting_limit,
                                                   .links = options.links}));
  parts_->meeting = std::move(world.meeting);
  parts_->group = std::move(world.group);
  parts_->shrink = std::move(world.shrink);
  // The one thing that is printed here, and only for who has asked for it.
  if (parts_->facts.rank == 0 && !world.explanation.empty()) std::cerr << world.explanation << std::flush;
}

Context::~Context() = default;

int Context::rank() const {
  return parts_->facts.rank;
}

int Context::world() const {
  return parts_->facts.world;
}

int Context::local_rank() const {
  return parts_->facts.local_rank;
}

int Context::local_world() const {
  return parts_->facts.local_world;
}

void Context::barrier() {
  parts_->run(cohort::barrier());
}

void Context::all_reduce(Numbers numbers, ReduceOp op) {
  parts_->run(cohort::all_reduce(numbers, op));
}

void Context::reduce(ConstNumbers from, Numbers to, int root, ReduceOp op) {
  parts_->run(cohort::reduce(from, to, root, op));
}

void Context::broadcast(Numbers numbers, int root) {
  parts_->run(cohort::broadcast(numbers, root));
}

void Context::reduce_scatter(ConstNumbers from, Numbers to, ReduceOp op) {
  parts_->run(cohort::reduce_scatter(from, to, op));
}

void Context::all_gather(ConstNumbers from, Numbers to) {
  parts_->run(cohort::all_gather(from, to));
}

void Context::gather(ConstNumbers from, Numbers to, int root) {
  parts_->run(cohort::gather(from, to, root));
}

void Context::scatter(ConstNumbers from, Numbers to, int root) {
  parts_->run(cohort::scatter(from, to, root));
}

void Context::all_to_all(ConstNumbers from, Numbers to) {
  parts_->run(cohort::all_to_all(from, to));
}

void Context::send(ConstNumbers numbers, int to, std::uint32_t tag) {
  parts_->run(cohort::send(numbers, to, tag));
}

void Context::receive(Numbers numbers, int from, std::uint32_t tag) {
  parts_->run(cohort::receive(numbers, from, tag));
}

void Context::abort(std::string_view why) {
  parts_->group->abort(Error(ErrorCode::kAborted, std::string(why)));
}

void Context::shrink() {
  if (!parts_->shrink) {
    throw Error(ErrorCode::kUnsupported, "this job does not go on without lost ranks")
        .with_remedy("Use the engine mpi under Open MPI 5, mpirun --with-ft ulfm; or start the job again.");
  }
  parts_->group = value_or_throw(parts_->shrink());
  parts_->facts.rank = parts_->group->rank();
  parts_->facts.world = parts_->group->world();
}

Communicator& Context::communicator() {
  return *parts_->group;
}

Arena& Context::arena() {
  return *parts_->arena;
}

void* Context::allocate_elements(std::size_t count, std::size_t element_bytes) {
  if (count > parts_->arena->capacity_bytes() / element_bytes) {
    throw UsageError("more elements than the arena has bytes")
        .with_remedy("Make ContextOptions::arena_bytes larger.");
  }
  ArenaBlock block = value_or_throw(parts_->arena->allocate(count * element_bytes));
  void* memory = block.bytes().data();
  const std::lock_guard lock(parts_->mutex);
  parts_->blocks.push_back(std::move(block));
  return memory;
}

}  // namespace cohort
