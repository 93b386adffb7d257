#include "signal_watch.h"

#include "base/system_error.h"

#include <array>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace cohort::tool {
namespace {

sigset_t signals_to_watch() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    ::sigaction(number, nullptr, &current);
    if (current.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  return set;
}

}  // namespace

Result<std::unique_ptr<SignalWatch>> SignalWatch::start(std::function<void(int signal)> act) {
  std::unique_ptr<SignalWatch> watch(new SignalWatch(std::move(act)));
  const sigset_t wanted = signals_to_watch();
  ::pthread_sigmask(SIG_BLOCK, &wanted, &watch->before_);
  watch->signals_ = Descriptor(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  watch->stop_ = Descriptor(::eventfd(0, EFD_CLOEXEC));
  if (!watch->signals_.is_open() || !watch->stop_.is_open()) {
    return system_error("cannot watch for signals", errno);
  }
  watch->thread_ = std::thread([&watched = *watch] { watched.watch(); });
  return watch;
}

SignalWatch::~SignalWatch() {
  if (thread_.joinable()) {
    ::eventfd_write(stop_.number(), 1);
    thread_.join();
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void SignalWatch::watch() noexcept {
  while (true) {
    std::array<pollfd, 2> sources{{{stop_.number(), POLLIN, 0}, {signals_.number(), POLLIN, 0}}};
    if (::poll(sources.data(), sources.size(), -1) < 0) continue;
    if (sources[0].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_.number(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      act_(static_cast<int>(info.ssi_signo));
    }
  }
}

}  // namespace cohort::tool
