#include "measure/pin.h"
#include "measure/statistics.h"
#include "side.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// Two processes, each on a core of its own, send a message to and fro: bare UCX and Cohort's transport by
// turns, a batch of each at a time. What is compared is the limit of the best decile.

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
    throw std::runtime_error("the other process is gone");
}

void read_all(int socket, void* data, std::size_t size_bytes) {
  auto* at = static_cast<char*>(data);
  for (std::size_t left = size_bytes; left > 0;) {
    const ssize_t got = ::read(socket, at, left);
    if (got <= 0) throw std::runtime_error("the other process is gone");
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

/// Nanoseconds of one way, on average over the batch.
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

/// Both processes agree: the first one says.
int agree_rounds(int member, int socket, double one_way_ns, double batch_ms) {
  int rounds = static_cast<int>(std::clamp(batch_ms * 1e6 / (2 * one_way_ns), 3.0, 20000.0));
  if (member == 0) write_all(socket, &rounds, sizeof rounds);
  if (member == 1) read_all(socket, &rounds, sizeof rounds);
  return rounds;
}

void compare(const Options& options, int member, int socket) {
  const Settings settings = {{"TLS", options.transports}, {"NET_DEVICES", options.devices}};
  const auto bare = make_bare(settings);
  const auto ours = make_ours(settings);
  meet(*bare, member, socket);
  meet(*ours, member, socket);
  std::vector<std::byte> room(std::size_t{8} << 20);
  if (member == 0)
    fmt::print("{:>9}  {:>12}  {:>12}  {:>6}  one way, best decile of {} batches\n", "bytes", "bare us",
               "ours us", "ratio", options.batches);
  for (std::size_t size_bytes = 8; size_bytes <= room.size(); size_bytes *= size_bytes < 65536 ? 8 : 4) {
    const auto part = std::span(room).first(size_bytes);
    run_batch(*ours, member, part, 10);
    const int rounds = agree_rounds(member, socket, run_batch(*bare, member, part, 20), options.batch_ms);
    std::vector<double> bare_ns;
    std::vector<double> ours_ns;
    for (int batch = 0; batch < options.batches; ++batch) {
      if (batch % 2 == 0) bare_ns.push_back(run_batch(*bare, member, part, rounds));
      ours_ns.push_back(run_batch(*ours, member, part, rounds));
      if (batch % 2 == 1) bare_ns.push_back(run_batch(*bare, member, part, rounds));
    }
    if (member != 0) continue;
    const double b = measure::summarize(bare_ns).p10_ns / 1e3;
    const double o = measure::summarize(ours_ns).p10_ns / 1e3;
    fmt::print("{:>9}  {:>12.2f}  {:>12.2f}  {:>6.3f}\n", size_bytes, b, o, o / b);
    std::fflush(stdout);
  }
}

int run(int argc, char** argv) {
  CLI::App app("what the transport costs over bare UCX");
  Options options;
  app.add_option("--transports", options.transports, "what UCX_TLS would say")->capture_default_str();
  app.add_option("--devices", options.devices, "what UCX_NET_DEVICES would say")->capture_default_str();
  app.add_option("--batches", options.batches, "of each, for each size")->capture_default_str();
  app.add_option("--batch-ms", options.batch_ms, "how long one takes, about")->capture_default_str();
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
  ::_exit(0);  // neither side sees the other off
}

}  // namespace
}  // namespace cohort::bench

int main(int argc, char** argv) {
  return cohort::bench::run(argc, argv);
}
