#include "measure/contender.h"
#include "measure/statistics.h"
#include "side.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// Two processes, each on a core of its own, send a message back and forth: over bare UCX, over bare UCX with
// error handling as Cohort needs it, and over Cohort's transport, one batch of each in turn. The 10th
// percentile of the batches is compared.

namespace cohort::bench {
namespace {

struct Options {
  std::string transports = "tcp";
  std::string devices = "lo";
  int batches = 300;
  double batch_ms = 2;
};

void write_all(int socket, const void* data, std::size_t size_bytes) {
  if (::write(socket, data, size_bytes) != static_cast<ssize_t>(size_bytes))
    throw std::runtime_error("the other process has ended");
}

void read_all(int socket, void* data, std::size_t size_bytes) {
  auto* at = static_cast<char*>(data);
  for (std::size_t left = size_bytes; left > 0;) {
    const ssize_t got = ::read(socket, at, left);
    if (got <= 0) throw std::runtime_error("the other process has ended");
    at += got;
    left -= static_cast<std::size_t>(got);
  }
}

void meet(Side& side, int member, int socket) {
  const Address mine = side.address();
  std::size_t size_bytes = mine.size();
  write_all(socket, &size_bytes, sizeof size_bytes);
  write_all(socket, mine.data(), mine.size());
  read_all(socket, &size_bytes, sizeof size_bytes);
  Address other(size_bytes);
  read_all(socket, other.data(), other.size());
  side.connect(member, member == 0 ? std::vector{mine, other} : std::vector{other, mine});
}

/// One-way nanoseconds, averaged over the batch.
double run_batch(Side& side, int member, std::span<std::byte> room, int rounds) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) {
    if (member == 0) side.send(room);
    side.receive(room);
    if (member == 1) side.send(room);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / rounds / 2;
}

/// The number of rounds per batch; process 0 decides for both.
int agree_rounds(int member, int socket, double one_way_ns, double batch_ms) {
  int rounds = static_cast<int>(std::clamp(batch_ms * 1e6 / (2 * one_way_ns), 3.0, 20000.0));
  if (member == 0) write_all(socket, &rounds, sizeof rounds);
  if (member == 1) read_all(socket, &rounds, sizeof rounds);
  return rounds;
}

using Sides = std::array<std::unique_ptr<Side>, 3>;  // bare, bare with error handling, ours

void print_row(std::size_t size_bytes, const std::array<std::vector<double>, 3>& samples) {
  std::array<double, 3> us{};
  for (std::size_t i = 0; i < us.size(); ++i) us[i] = measure::summarize(samples[i]).p10_ns / 1e3;
  fmt::print("{:>9}  {:>10.2f}  {:>10.2f}  {:>10.2f}  {:>9.3f}  {:>9.3f}\n", size_bytes, us[0], us[1], us[2],
             us[2] / us[0], us[2] / us[1]);
  std::fflush(stdout);
}

void compare_size(const Options& options, int member, int socket, const Sides& sides,
                  std::span<std::byte> room) {
  for (const auto& side : sides) run_batch(*side, member, room, 10);
  const int rounds = agree_rounds(member, socket, run_batch(*sides[0], member, room, 20), options.batch_ms);
  std::array<std::vector<double>, 3> samples;
  for (int batch = 0; batch < options.batches; ++batch) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(batch)) % sides.size();
      samples[turn].push_back(run_batch(*sides[turn], member, room, rounds));
    }
  }
  if (member == 0) print_row(room.size(), samples);
}

void compare(const Options& options, int member, int socket) {
  const Settings settings = {{"TLS", options.transports}, {"NET_DEVICES", options.devices}};
  const Sides sides = {make_bare(settings, ErrorHandling::kOff), make_bare(settings, ErrorHandling::kOn),
                       make_ours(settings)};
  for (const auto& side : sides) meet(*side, member, socket);
  if (member == 0) {
    fmt::print("one way in µs, 10th percentile of {} batches; bare: tagged messages of UCX itself\n",
               options.batches);
    fmt::print("{:>9}  {:>10}  {:>10}  {:>10}  {:>9}  {:>9}\n", "bytes", "bare", "bare+err", "ours",
               "ours/bare", "ours/b+e");
  }
  std::vector<std::byte> room(std::size_t{8} << 20);
  for (std::size_t size_bytes = 8; size_bytes <= room.size(); size_bytes *= 4) {
    compare_size(options, member, socket, sides, std::span(room).first(size_bytes));
  }
}

int run(int argc, char** argv) {
  CLI::App app("Compares Cohort's UCX transport with bare UCX.");
  Options options;
  app.add_option("--transports", options.transports, "value of UCX_TLS")->capture_default_str();
  app.add_option("--devices", options.devices, "value of UCX_NET_DEVICES")->capture_default_str();
  app.add_option("--batches", options.batches, "batches of each kind per message size")
      ->capture_default_str();
  app.add_option("--batch-ms", options.batch_ms, "approximate length of a batch in ms")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 1;
  const pid_t child = ::fork();
  const int member = child == 0 ? 1 : 0;
  value_or_throw(measure::pin_to_core_of(member));
  compare(options, member, sockets[member]);
  std::byte end{};
  write_all(sockets[member], &end, 1);
  read_all(sockets[member], &end, 1);
  std::fflush(stdout);
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  ::_exit(0);  // without waiting for the peer to leave
}

}  // namespace
}  // namespace cohort::bench

int main(int argc, char** argv) {
  return cohort::bench::run(argc, argv);
}
