#include <cohort/group.h>

#include "comm/group/mesh.h"
#include "world/group_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort {

struct Work::State {
  comm::Work work;
};

Work::Work(std::shared_ptr<State> state) : state_(std::move(state)) {}

void Work::wait() const {
  value_or_throw(state_->work.wait());
}

bool Work::wait_for(std::chrono::nanoseconds time) const {
  const Status status = state_->work.wait_until(deadline_after(std::chrono::steady_clock::now(), time));
  if (!state_->work.is_done()) return false;
  value_or_throw(status);
  return true;
}

bool Work::is_done() const {
  return state_->work.is_done();
}

namespace {

void run(Communicator& group, const Call& call) {
  value_or_throw(group.run(call));
}

}  // namespace

Group::Group(std::shared_ptr<Parts> parts) : parts_(std::move(parts)) {}
Group::Group(Group&& other) noexcept = default;
Group& Group::operator=(Group&& other) noexcept = default;
Group::~Group() = default;

Communicator& Group::communicator() const {
  return *parts_->communicator;
}

Arena& Group::arena() const {
  return parts_->arena;
}

std::shared_ptr<void> Group::hold() const {
  return parts_;
}

int Group::rank() const {
  return communicator().rank();
}

int Group::size() const {
  return communicator().size();
}

const std::string& Group::name() const {
  return communicator().group_name();
}

void Group::abort(std::string_view why) {
  communicator().abort(Error(ErrorCode::kAborted, std::string(why)));
}

std::optional<Group> Group::split(std::optional<int> colour, int key, const std::string& name) {
  auto part = value_or_throw(communicator().split(colour, key, name));
  if (part == nullptr) return std::nullopt;
  return Group(Parts::make(parts_->world, parts_->arena, std::move(part)));
}

Group Group::along(const std::vector<int>& axes, const std::vector<int>& shape) {
  for (const int length : shape) {
    if (length < 1) {
      throw UsageError(fmt::format("an axis of a grid of ranks is {} long, expected 1 or more", length));
    }
  }
  auto part = value_or_throw(
      split_axes(communicator(), Mesh(shape), axes, fmt::format("along {}", fmt::join(axes, ","))));
  return Group(Parts::make(parts_->world, parts_->arena, std::move(part)));
}

void Group::barrier() {
  run(communicator(), cohort::barrier());
}

void Group::all_reduce(Numbers numbers, ReduceOp op) {
  run(communicator(), cohort::all_reduce(numbers, op));
}

void Group::reduce(ConstNumbers from, Numbers to, int root, ReduceOp op) {
  run(communicator(), cohort::reduce(from, to, root, op));
}

void Group::broadcast(Numbers numbers, int root) {
  run(communicator(), cohort::broadcast(numbers, root));
}

void Group::reduce_scatter(ConstNumbers from, Numbers to, ReduceOp op) {
  run(communicator(), cohort::reduce_scatter(from, to, op));
}

void Group::all_gather(ConstNumbers from, Numbers to) {
  run(communicator(), cohort::all_gather(from, to));
}

void Group::gather(ConstNumbers from, Numbers to, int root) {
  run(communicator(), cohort::gather(from, to, root));
}

void Group::scatter(ConstNumbers from, Numbers to, int root) {
  run(communicator(), cohort::scatter(from, to, root));
}

void Group::all_to_all(ConstNumbers from, Numbers to) {
  run(communicator(), cohort::all_to_all(from, to));
}

void Group::send(ConstNumbers numbers, int to, std::uint32_t tag) {
  run(communicator(), cohort::send(numbers, to, tag));
}

void Group::recv(Numbers numbers, int from, std::uint32_t tag) {
  run(communicator(), cohort::recv(numbers, from, tag));
}

int Group::recv_any(Numbers numbers, std::uint32_t tag) {
  int source = kAnyRank;
  run(communicator(), cohort::recv_any(numbers, source, tag));
  return source;
}

Work Group::start(const Call& call) {
  return Work(std::shared_ptr<Work::State>(new Work::State{communicator().start(call)}));
}

Work Group::keeping(Work work, std::shared_ptr<void> thing) {
  work.state_->work.then([thing = std::move(thing)](const Status&) {});
  return work;
}

Work Group::async_barrier() {
  return start(cohort::barrier());
}

Work Group::async_all_reduce(Numbers numbers, ReduceOp op) {
  return start(cohort::all_reduce(numbers, op));
}

Work Group::async_reduce(ConstNumbers from, Numbers to, int root, ReduceOp op) {
  return start(cohort::reduce(from, to, root, op));
}

Work Group::async_broadcast(Numbers numbers, int root) {
  return start(cohort::broadcast(numbers, root));
}

Work Group::async_reduce_scatter(ConstNumbers from, Numbers to, ReduceOp op) {
  return start(cohort::reduce_scatter(from, to, op));
}

Work Group::async_all_gather(ConstNumbers from, Numbers to) {
  return start(cohort::all_gather(from, to));
}

Work Group::async_gather(ConstNumbers from, Numbers to, int root) {
  return start(cohort::gather(from, to, root));
}

Work Group::async_scatter(ConstNumbers from, Numbers to, int root) {
  return start(cohort::scatter(from, to, root));
}

Work Group::async_all_to_all(ConstNumbers from, Numbers to) {
  return start(cohort::all_to_all(from, to));
}

Work Group::async_send(ConstNumbers numbers, int to, std::uint32_t tag) {
  return start(cohort::send(numbers, to, tag));
}

Work Group::async_recv(Numbers numbers, int from, std::uint32_t tag) {
  return start(cohort::recv(numbers, from, tag));
}

}  // namespace cohort
