#include "comm/networks/simulated.h"

#include "base/check.h"
#include "comm/networks/simulated_wires.h"

#include <algorithm>
#include <utility>

namespace cohort::comm {
namespace {

// How long the driver waits, in real time, until members have handled all messages that arrived. A frozen
// member never does.
constexpr std::chrono::milliseconds kCalmLimit(20);
constexpr std::chrono::milliseconds kDriverTick(1);

class SimulatedTransport final : public Transport {
 public:
  SimulatedTransport(std::shared_ptr<SimulatedWires> wires, int member)
      : wires_(std::move(wires)), member_(member) {}
  ~SimulatedTransport() override { wires_->close(member_); }

  int member() const override { return member_; }
  int num_members() const override { return wires_->size(); }
  void open(FrameSink& sink, Doorbell& doorbell) override { wires_->open(member_, sink, doorbell); }
  void send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) override {
    COHORT_CHECK_EQ(header.size_bytes, payload.size());
    wires_->send(member_, to, header, payload, std::move(sent));
  }
  void withdraw(std::uint32_t group, std::uint32_t generation) override {
    wires_->withdraw(member_, group, generation);
  }
  void give_up(int member, const Error& why) override { wires_->give_up(member_, member, why); }
  void close() override { wires_->close(member_); }
  bool advance() override { return wires_->advance(member_); }

 private:
  const std::shared_ptr<SimulatedWires> wires_;
  const int member_;
};

}  // namespace

SimulatedNetwork::SimulatedNetwork(int num_members, Options options)
    : wires_(std::make_shared<SimulatedWires>(num_members, options)) {
  COHORT_CHECK_GE(num_members, 1);
}

SimulatedNetwork::~SimulatedNetwork() = default;

int SimulatedNetwork::num_members() const {
  return wires_->size();
}

std::unique_ptr<Transport> SimulatedNetwork::take(int member) {
  wires_->take(member);
  return std::make_unique<SimulatedTransport>(wires_, member);
}

void SimulatedNetwork::set_link(int from, int to, const LinkFacts& facts) {
  wires_->set_link(from, to, facts);
}

Clock& SimulatedNetwork::clock() {
  return wires_->clock();
}

void SimulatedNetwork::add(Task& task) {
  tasks_.push_back(&task);
}

void SimulatedNetwork::settle_tasks() {
  bool moved = true;
  while (moved) {
    moved = false;
    for (Task* task : tasks_) moved = task->advance() || moved;
  }
}

void SimulatedNetwork::run_until_idle() {
  settle_tasks();
  while (const std::optional<TimePoint> next = wires_->next_arrival()) {
    wires_->move_to(*next);
    settle_tasks();
  }
}

void SimulatedNetwork::run_until(TimePoint until) {
  while (true) {
    settle_tasks();
    const TimePoint now = clock().now();
    TimePoint next = wires_->next_arrival().value_or(TimePoint::max());
    for (const Task* task : tasks_) {
      // Events that were due before have been handled.
      if (const TimePoint wanted = task->wanted_at(); wanted > now) next = std::min(next, wanted);
    }
    if (next > until) break;
    wires_->move_to(next);
  }
  wires_->move_to(until);
}

void SimulatedNetwork::start_driver() {
  COHORT_CHECK(!driver_.joinable(), "the network has a driver already");
  driver_ = std::jthread([this](const std::stop_token& stop) { drive(stop); });
}

void SimulatedNetwork::drive(const std::stop_token& stop) {
  TimePoint last = std::chrono::steady_clock::now();
  while (!stop.stop_requested()) {
    wires_->wait_for_traffic(kDriverTick);
    const TimePoint real = std::chrono::steady_clock::now();
    wires_->clock().advance(real - std::exchange(last, real));
    const std::optional<TimePoint> next = wires_->next_arrival();
    if (!next) continue;
    if (*next > clock().now()) wires_->wait_until_calm(kCalmLimit);
    // While the members became calm, one of them may have sent a message that arrives earlier.
    if (const std::optional<TimePoint> first = wires_->next_arrival()) wires_->move_to(*first);
  }
}

void ClockedDoorbell::sleep(std::uint32_t ticket, TimePoint until) {
  const TimePoint now = clock_.now();
  const TimePoint real = std::chrono::steady_clock::now();
  inner_.sleep(ticket, until > now ? deadline_after(real, until - now) : real);
}

}  // namespace cohort::comm
