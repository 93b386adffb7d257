#include "net/reactor.h"

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>

namespace cohort::net {

struct Reactor::Loop {
  asio::io_context io;
  asio::executor_work_guard<asio::io_context::executor_type> busy{io.get_executor()};
};

namespace {

using Watched = asio::posix::stream_descriptor;

class AsioWatch final : public Watch {
 public:
  AsioWatch(asio::io_context& io, int descriptor)
      : descriptor_(io, descriptor), flags_(std::make_shared<Flags>()) {}
  ~AsioWatch() override { descriptor_.release(); }

  bool is_readable() const override { return flags_->readable.load(std::memory_order_acquire); }
  bool is_writable() const override { return flags_->writable.load(std::memory_order_acquire); }
  void wait_for_read() override { wait(Watched::wait_read, &Flags::readable); }
  void wait_for_write() override { wait(Watched::wait_write, &Flags::writable); }

 private:
  // Shared with Asio's handlers, which may outlive the watch.
  struct Flags {
    std::atomic<bool> readable{true};
    std::atomic<bool> writable{true};
  };

  void wait(Watched::wait_type what, std::atomic<bool> Flags::*flag) {
    if (!((*flags_).*flag).exchange(false)) return;  // waiting already
    descriptor_.async_wait(what, [flags = flags_, flag](const asio::error_code&) {
      ((*flags).*flag).store(true, std::memory_order_release);
    });
  }

  Watched descriptor_;
  const std::shared_ptr<Flags> flags_;
};

}  // namespace

Reactor::Reactor() : loop_(std::make_unique<Loop>()) {}
Reactor::~Reactor() = default;

std::unique_ptr<Watch> Reactor::watch(int descriptor) {
  return std::make_unique<AsioWatch>(loop_->io, descriptor);
}

void Reactor::poll() {
  loop_->io.poll();
}

void Reactor::sleep(TimePoint until) {
  loop_->io.run_one_until(until);
}

void Reactor::wake() {
  asio::post(loop_->io, [] {});
}

std::uint32_t SocketDoorbell::arm() {
  sleepers_.fetch_add(1);
  return rings_.load();
}

void SocketDoorbell::sleep(std::uint32_t ticket, TimePoint until) {
  if (rings_.load() == ticket) reactor_.sleep(until);
}

void SocketDoorbell::disarm() {
  sleepers_.fetch_sub(1);
}

void SocketDoorbell::ring() {
  rings_.fetch_add(1);
  if (sleepers_.load() != 0) reactor_.wake();
}

}  // namespace cohort::net
