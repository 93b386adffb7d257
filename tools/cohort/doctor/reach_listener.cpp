#include "base/system_error.h"
#include "doctor/reach.h"
#include "net/job_key.h"
#include "net/own_addresses.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cohort::tool {
namespace {

Result<std::string> new_token() {
  std::array<std::byte, 8> bytes{};
  COHORT_RETURN_IF_ERROR(net::fill_random(bytes));
  std::string token;
  for (const std::byte byte : bytes) token += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return token;
}

}  // namespace

std::string ReachTarget::text() const {
  std::vector<std::string> texts;
  for (const net::SocketAddress& address : addresses) texts.push_back(address.text());
  return fmt::format("{}@{}", token, fmt::join(texts, ","));
}

Result<ReachTarget> ReachTarget::parse(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == 0 || at == std::string_view::npos) {
    return Error(ErrorCode::kUsage, fmt::format("'{}' is not TOKEN@ADDRESS,…", text));
  }
  ReachTarget target{.token = std::string(text.substr(0, at))};
  text.remove_prefix(at + 1);
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(','), text.size());
    COHORT_ASSIGN_OR_RETURN(const auto address, net::SocketAddress::parse(text.substr(0, length)));
    target.addresses.push_back(address);
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return target;
}

Result<std::unique_ptr<ReachListener>> ReachListener::open(const std::vector<std::string>& interfaces) {
  ReachTarget target;
  COHORT_ASSIGN_OR_RETURN(target.token, new_token());
  COHORT_ASSIGN_OR_RETURN(const auto own, net::own_addresses());
  COHORT_ASSIGN_OR_RETURN(target.addresses, net::published_addresses(own, interfaces));
  COHORT_ASSIGN_OR_RETURN(Descriptor listener, net::listen_for(target.addresses));
  COHORT_ASSIGN_OR_RETURN(const net::SocketAddress bound, net::local_address(listener));
  for (net::SocketAddress& address : target.addresses) address = address.with_port(bound.port());
  Descriptor stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop.is_open()) return system_error("cannot create an eventfd", errno);
  return std::unique_ptr<ReachListener>(
      new ReachListener(std::move(target), std::move(listener), std::move(stop)));
}

ReachListener::ReachListener(ReachTarget target, Descriptor listener, Descriptor stop)
    : target_(std::move(target)),
      listener_(std::move(listener)),
      stop_(std::move(stop)),
      thread_([this] { serve(); }) {}

ReachListener::~ReachListener() {
  ::eventfd_write(stop_.number(), 1);
}

void ReachListener::serve() {
  while (true) {
    std::array<pollfd, 2> sources{{{stop_.number(), POLLIN, 0}, {listener_.number(), POLLIN, 0}}};
    if (::poll(sources.data(), sources.size(), -1) < 0) continue;
    if (sources[0].revents != 0) return;
    const Result<Descriptor> guest = net::accept_one(listener_);
    if (!guest) return;
    // The token fits into the buffer of a new socket.
    if (guest->is_open())
      (void)!::send(guest->number(), target_.token.data(), target_.token.size(), MSG_NOSIGNAL);
  }
}

}  // namespace cohort::tool
