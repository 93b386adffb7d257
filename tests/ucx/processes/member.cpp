#include "ucx/processes/member.h"

#include "comm/exchange/exchange.h"
#include "comm/message_passing/communicator.h"
#include "ucx/port.h"

#include <atomic>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using Address = std::vector<std::byte>;

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

std::string file_of(const RoleCall& call, int rank) {
  return fmt::format("{}/{}", call.args.at(0), rank);
}

void leave_address(const RoleCall& call, const Address& address) {
  const std::string file = file_of(call, call.rank);
  std::ofstream(file + ".part", std::ios::binary)
      .write(reinterpret_cast<const char*>(address.data()), static_cast<std::streamsize>(address.size()));
  std::filesystem::rename(file + ".part", file);
}

Address await_address(const RoleCall& call, int rank) {
  const std::string file = file_of(call, rank);
  for (const auto until = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < until;) {
    if (std::filesystem::exists(file)) break;
    std::this_thread::sleep_for(1ms);
  }
  std::ifstream in(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Status run_task(const std::string& task, Communicator& group) {
  const int last = group.size() - 1;
  COHORT_RETURN_IF_ERROR(group.run(barrier()));
  say("ready");
  if (group.rank() == last) {
    while (true) ::pause();
  }
  std::vector<float> numbers(2'000'003, 1.0F);
  if (task == "all_reduce") return group.run(all_reduce(std::span(numbers)));
  if (task == "send") return group.run(send(std::span<const float>(numbers), last));
  return group.run(recv(std::span(numbers), last));  // idle: no message ever arrives
}

Status join_and_work(const RoleCall& call) {
  COHORT_ASSIGN_OR_RETURN(
      const auto port, ucx::open_ucx_port({.settings = {{"TLS", call.args.at(1)}, {"NET_DEVICES", "lo"}}}));
  leave_address(call, port->address());
  ucx::UcxFacts facts = {.member = call.rank};
  for (int rank = 0; rank < call.world; ++rank) facts.addresses.push_back(await_address(call, rank));
  RealClock clock;
  COHORT_ASSIGN_OR_RETURN(auto transport, port->join(facts, clock));
  const auto doorbell = port->make_doorbell();
  comm::Exchange exchange(std::move(transport), clock, {});
  comm::Progress progress(*doorbell);
  exchange.open(*doorbell);
  progress.add(exchange);
  exchange.on_loss([](int member, const Error& why) {
    say(fmt::format("lost={} at={} {}", member, now_ns(), why.text()));
  });
  Status outcome;
  {
    COHORT_ASSIGN_OR_RETURN(const auto group, comm::MessagePassingCommunicator::make_world(
                                                  exchange, progress, {.limit = 20s, .kind = "ucx"}));
    outcome = run_task(call.args.at(2), *group);
  }
  say(fmt::format("code={} ended={} {}", outcome ? -1 : static_cast<int>(outcome.error().code()), now_ns(),
                  outcome ? "" : outcome.error().text()));
  progress.remove(exchange);
  exchange.close();
  return {};
}

int run_member(const RoleCall& call) {
  const Status outcome = join_and_work(call);
  if (outcome) return 0;
  say("failed: " + outcome.error().text());
  return 1;
}

}  // namespace

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

Roles ucx_roles() {
  return {{"member", run_member}};
}

}  // namespace cohort::test
