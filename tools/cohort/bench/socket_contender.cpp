#include "bench/socket_contender.h"

#include "base/system_error.h"
#include "bench/bare_ring.h"
#include "net/socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace cohort::tool {

using measure::BenchOperation;

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kSocketLimit = 30s;
constexpr std::size_t kPiece = std::size_t{256} << 10;

Error too_late() {
  return Error(ErrorCode::kTimedOut, "the other rank makes no progress");
}

// Written under another name and renamed, because the other rank polls for the file.
Status publish(const std::string& file, const std::string& text) {
  const std::string draft = file + ".draft";
  std::ofstream(draft) << text;
  std::error_code failure;
  std::filesystem::rename(draft, file, failure);
  if (failure) return Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", file, failure.message()));
  return {};
}

Result<std::string> wait_for_text(const std::string& file) {
  for (const auto until = steady_clock::now() + kSocketLimit; steady_clock::now() < until;) {
    std::string text;
    if (std::ifstream in(file); in && std::getline(in, text)) return text;
    std::this_thread::sleep_for(5ms);
  }
  return too_late();
}

Status wait_until_ready(const Descriptor& socket, short events) {
  pollfd poll{.fd = socket.number(), .events = events, .revents = 0};
  const int limit_ms = static_cast<int>(std::chrono::milliseconds(kSocketLimit).count());
  if (::poll(&poll, 1, limit_ms) == 0) return too_late();
  return {};
}

Result<Descriptor> accept_other(const std::string& file) {
  COHORT_ASSIGN_OR_RETURN(const auto address, net::SocketAddress::parse("127.0.0.1:0"));
  COHORT_ASSIGN_OR_RETURN(const Descriptor listener, net::listen_at(address));
  COHORT_ASSIGN_OR_RETURN(const auto bound, net::local_address(listener));
  COHORT_RETURN_IF_ERROR(publish(file, bound.text()));
  COHORT_RETURN_IF_ERROR(wait_until_ready(listener, POLLIN));
  return net::accept_one(listener);
}

Result<Descriptor> connect_to_other(const std::string& file) {
  COHORT_ASSIGN_OR_RETURN(const std::string text, wait_for_text(file));
  COHORT_ASSIGN_OR_RETURN(const auto address, net::SocketAddress::parse(text));
  COHORT_ASSIGN_OR_RETURN(Descriptor socket, net::begin_connect(address));
  COHORT_RETURN_IF_ERROR(wait_until_ready(socket, POLLOUT));
  COHORT_RETURN_IF_ERROR(net::connect_outcome(socket, address));
  return socket;
}

bool is_symmetric(BenchOperation operation) {
  return operation == BenchOperation::kAllReduce || operation == BenchOperation::kReduceScatter ||
         operation == BenchOperation::kAllGather || operation == BenchOperation::kAllToAll;
}

std::size_t sent_elements(BenchOperation operation, std::size_t elements) {
  return static_cast<std::size_t>(
      std::lround(measure::bus_factor(operation, 2) * static_cast<double>(elements)));
}

}  // namespace

Result<std::unique_ptr<SocketContender>> SocketContender::open(const std::string& folder, int rank,
                                                               int ranks) {
  if (ranks != 2) return std::unique_ptr<SocketContender>(new SocketContender(Descriptor()));
  const std::string file = folder + "/bare_tcp";
  COHORT_ASSIGN_OR_RETURN(Descriptor socket, rank == 0 ? accept_other(file) : connect_to_other(file));
  return std::unique_ptr<SocketContender>(new SocketContender(std::move(socket)));
}

Result<measure::Memory> SocketContender::allocate(const std::string&, const measure::BufferSizes& elements) {
  if (input_.size() != elements.input) input_ = std::vector<float>(elements.input);
  if (output_.size() != elements.output) output_ = std::vector<float>(elements.output);
  return measure::Memory{.input = input_, .output = output_};
}

Status SocketContender::align() {
  if (!socket_.is_open()) return {};
  std::array<std::byte, 1> out{}, in{};
  return exchange(out, in);
}

Status SocketContender::perform(const measure::Turn& turn) {
  if (!socket_.is_open() || !is_symmetric(turn.operation)) {
    return Error(ErrorCode::kUnsupported, "bare_tcp needs two ranks that do the same");
  }
  const std::size_t count = sent_elements(turn.operation, turn.input.size());
  return exchange(std::as_bytes(turn.input.first(count)), std::as_writable_bytes(turn.output.first(count)));
}

Status SocketContender::exchange(std::span<const std::byte> out, std::span<std::byte> in) {
  while (!out.empty() || !in.empty()) {
    COHORT_ASSIGN_OR_RETURN(const std::size_t sent,
                            send_some(socket_, out.first(std::min(out.size(), kPiece))));
    out = out.subspan(sent);
    COHORT_ASSIGN_OR_RETURN(const std::size_t received,
                            receive_some(socket_, in.first(std::min(in.size(), kPiece))));
    in = in.subspan(received);
    if (sent + received > 0) continue;
    const auto events = static_cast<short>((out.empty() ? 0 : POLLOUT) | (in.empty() ? 0 : POLLIN));
    COHORT_RETURN_IF_ERROR(wait_until_ready(socket_, events));
  }
  return {};
}

measure::CallShape SocketContender::shape(BenchOperation operation, std::size_t elements,
                                          const measure::Seat& seat) const {
  if (!is_symmetric(operation)) return Contender::shape(operation, elements, seat);
  return {.sizes = {.input = elements, .output = elements},
          .before = measure::Before::kPoison,
          .expected = {{.count = sent_elements(operation, elements), .ranks = {1 - seat.rank}}}};
}

}  // namespace cohort::tool
