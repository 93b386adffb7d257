#pragma once

#include "base/descriptor.h"
#include "net/socket.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

namespace cohort::test {

/// A bad network between a connector and a listener: forwards bytes, and breaks connections on request.
///
/// Threads: every method from any thread; runs a thread of its own.
class Proxy {
 public:
  explicit Proxy(const net::SocketAddress& target)
      : target_(target),
        listener_(value_or_throw(net::listen_at(*net::SocketAddress::parse("127.0.0.1:0")))),
        address_(*net::local_address(listener_)),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}

  const net::SocketAddress& address() const { return address_; }
  int num_connections() const { return num_connections_; }

  /// Closes every connection after this many bytes, both directions together.
  void cut_after(std::optional<std::size_t> bytes) { cut_after_ = bytes.value_or(0); }
  /// Slows each connection down after `bytes`: then `at_a_time` bytes pass in each direction every 5 ms.
  void trickle_after(std::size_t bytes, std::size_t at_a_time) {
    trickle_after_ = bytes;
    trickle_ = at_a_time;
  }
  int num_trickles() const { return num_trickles_; }
  /// Half-open connections: the connector sees the end of the stream, the listener sees nothing.
  void cut_the_side_of_the_connector() { half_open_ = true; }
  /// Closes all connections. New ones are accepted, and nothing passes on them.
  void swallow() {
    swallows_ = true;
    ends_all_ = true;
  }

 private:
  struct Line {
    std::array<Descriptor, 2> ends{};
    std::array<std::vector<std::byte>, 2> waiting{};  // to be forwarded to the other end
    std::size_t num_passed = 0;
    bool is_over = false;
  };

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pollfd> sources{{listener_.number(), POLLIN, 0}};
      for (const auto& line : lines_) {
        for (std::size_t end = 0; end < 2; ++end) {
          const bool has_more = !line->waiting[1 - end].empty();
          const short events = static_cast<short>((has_more ? POLLOUT : 0) |
                                                  (line->waiting[end].size() < (1 << 20) ? POLLIN : 0));
          sources.push_back({line->ends[end].number(), events, 0});
        }
      }
      ::poll(sources.data(), sources.size(), 5);
      if (trickle_ > 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        ++num_trickles_;
      }
      accept();
      if (ends_all_.exchange(false)) lines_.clear();
      const bool half_open = half_open_.exchange(false);
      for (const auto& line : lines_) {
        if (half_open) {
          line->ends[0] = Descriptor();
          dead_.push_back(std::move(line->ends[1]));  // stays open
          line->is_over = true;
        }
        if (!line->is_over) pass(*line);
      }
      std::erase_if(lines_, [](const auto& line) { return line->is_over; });
    }
  }
  void accept() {
    while (true) {
      auto came = net::accept_one(listener_);
      if (!came || !came->is_open()) return;
      ++num_connections_;
      if (swallows_) {
        dead_.push_back(std::move(*came));
        continue;
      }
      auto line = std::make_unique<Line>();
      line->ends = {std::move(*came), value_or_throw(net::begin_connect(target_))};
      lines_.push_back(std::move(line));
    }
  }
  void pass(Line& line) {
    for (std::size_t end = 0; end < 2; ++end) {
      std::array<std::byte, 65536> piece{};
      const ssize_t got = ::recv(line.ends[end].number(), piece.data(), piece.size(), MSG_DONTWAIT);
      if (got == 0) line.is_over = true;
      if (got > 0) line.waiting[end].insert(line.waiting[end].end(), piece.begin(), piece.begin() + got);
      auto& waiting = line.waiting[end];
      if (waiting.empty()) continue;
      std::size_t count = waiting.size();
      if (trickle_ > 0) {
        const bool has_begun = line.num_passed >= trickle_after_;
        count = std::min<std::size_t>(count, has_begun ? trickle_.load() : trickle_after_ - line.num_passed);
      }
      const ssize_t put =
          ::send(line.ends[1 - end].number(), waiting.data(), count, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (put > 0) waiting.erase(waiting.begin(), waiting.begin() + put);
      if (put > 0) line.num_passed += static_cast<std::size_t>(put);
    }
    const std::size_t cut_after = cut_after_;
    if (cut_after > 0 && line.num_passed >= cut_after) line.is_over = true;
  }

  const net::SocketAddress target_;
  Descriptor listener_;
  const net::SocketAddress address_;
  std::atomic<int> num_connections_ = 0;
  std::atomic<std::size_t> cut_after_ = 0, trickle_ = 0, trickle_after_ = 0;
  std::atomic<int> num_trickles_ = 0;
  std::atomic<bool> half_open_ = false, swallows_ = false, ends_all_ = false;
  std::vector<std::unique_ptr<Line>> lines_;
  std::vector<Descriptor> dead_;
  std::jthread thread_;
};

}  // namespace cohort::test
