#pragma once

#include "base/descriptor.h"
#include "base/result.h"

#include <csignal>
#include <functional>
#include <memory>
#include <thread>

namespace cohort::tool {

/// Catches SIGINT, SIGTERM and SIGHUP while it exists and calls a function for each, on its own thread. A
/// signal that was ignored before (nohup, a background job of a script) stays ignored.
///
/// Threads: create it before other threads start, so that they inherit the blocked signals.
/// Lifetime: the destructor restores the previous handling; it may wait for the function to return.
class SignalWatch {
 public:
  static Result<std::unique_ptr<SignalWatch>> start(std::function<void(int signal)> act);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  explicit SignalWatch(std::function<void(int signal)> act) : act_(std::move(act)) {}
  void watch() noexcept;

  std::function<void(int signal)> act_;
  sigset_t before_{};
  Descriptor signals_;
  Descriptor stop_;
  std::thread thread_;
};

}  // namespace cohort::tool
