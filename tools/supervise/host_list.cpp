#include "supervise/host_job.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <numeric>

namespace cohort::supervise {
namespace {

constexpr int kMostRanks = 65536;

Error wrong(std::string_view text, const char* why) {
  return Error(ErrorCode::kUsage, fmt::format("'{}' is not a host with its number of ranks: {}", text, why))
      .with_remedy("Write them as in --hosts a:4,b:4.");
}

Result<HostShare> parse_share(std::string_view text) {
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  const bool has_count =
      colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  HostShare share{.name = std::string(has_count ? text.substr(0, colon) : text)};
  if (has_count) {
    const std::string_view count = text.substr(colon + 1);
    const auto [end, failure] = std::from_chars(count.data(), count.data() + count.size(), share.ranks);
    if (failure != std::errc() || end != count.data() + count.size()) {
      return wrong(text, "the number of ranks is not a whole number");
    }
    if (share.ranks < 1 || share.ranks > kMostRanks) {
      return wrong(text, "the number of ranks must be from 1 to 65536");
    }
  }
  if (share.name.size() > 2 && share.name.front() == '[' && share.name.back() == ']') {
    share.name = share.name.substr(1, share.name.size() - 2);
  }
  // The name becomes an argument of a command (ssh), where a leading dash would make it an option.
  if (share.name.empty() || share.name.front() == '-') {
    return wrong(text, "the name must not be empty or begin with a dash");
  }
  return share;
}

}  // namespace

Result<std::vector<HostShare>> parse_hosts(std::string_view text) {
  std::vector<HostShare> hosts;
  while (true) {
    const std::size_t comma = text.find(',');
    COHORT_ASSIGN_OR_RETURN(HostShare share, parse_share(text.substr(0, comma)));
    const auto same = [&](const HostShare& host) { return host.name == share.name; };
    if (std::any_of(hosts.begin(), hosts.end(), same)) return wrong(share.name, "the host is listed twice");
    hosts.push_back(std::move(share));
    if (comma == std::string_view::npos) return hosts;
    text.remove_prefix(comma + 1);
  }
}

int num_ranks(const std::vector<HostShare>& hosts) {
  return std::accumulate(hosts.begin(), hosts.end(), 0,
                         [](int sum, const HostShare& host) { return sum + host.ranks; });
}

}  // namespace cohort::supervise
