#include "world/link_prices.h"

#include "comm/network_member.h"
#include "storage/memory_file_system.h"
#include "storage/whole_file.h"
#include "world/world.h"

#include <gtest/gtest.h>
#include <map>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using world::LinkCache;
using world::Pricing;
using world::PricingOptions;

/// The result of fit_prices() on every rank, for ranks on these hosts.
std::vector<Pricing> priced(const std::vector<int>& hosts, FileSystem& files) {
  const auto n = static_cast<int>(hosts.size());
  std::vector<Pricing> found(hosts.size());
  const Network network = network_kinds().front().make(n);
  const auto outcome = run_world(n, [&](RankContext& rank) -> Status {
    NetworkMember member(network, rank.rank());
    LinkCache cache(files, "/cache");
    const auto host = std::to_string(hosts[static_cast<std::size_t>(rank.rank())]);
    COHORT_ASSIGN_OR_RETURN(
        found[static_cast<std::size_t>(rank.rank())],
        fit_prices(member.group(), cache, {.hosts = hosts, .addresses = {host}, .link_time = 5ms}));
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
  return found;
}

std::map<std::string, std::string> remembered(FileSystem& files) {
  std::map<std::string, std::string> links;
  const auto names = files.list("/cache");
  if (!names) return links;
  for (const std::string& name : *names) links[name] = value_or_throw(read_file(files, "/cache/" + name));
  return links;
}

TEST(LinkPrices, AreTheSameOnAllRanks) {
  for (const std::vector<int>& hosts :
       {std::vector{0, 1}, std::vector{0, 0, 1, 1}, std::vector{0, 1, 2}, std::vector{0, 0, 0, 1, 2}}) {
    MemoryFileSystem files;
    const auto found = priced(hosts, files);
    for (const Pricing& each : found) {
      EXPECT_EQ(each.prices.far_step_s, found[0].prices.far_step_s);
      EXPECT_EQ(each.prices.far_byte_s, found[0].prices.far_byte_s);
      EXPECT_EQ(each.prices.step_s, found[0].prices.step_s);
      EXPECT_EQ(each.prices.byte_s, found[0].prices.byte_s);
      EXPECT_EQ(each.prices.combined_byte_s, found[0].prices.combined_byte_s);
      EXPECT_GT(each.prices.far_step_s, 0);
      EXPECT_GT(each.prices.combined_byte_s, 0);
      EXPECT_GE(each.far_bytes_per_s * each.prices.far_byte_s, 1 - 1e-9)
          << "the slowest link is not faster than the median";
    }
  }
}

TEST(LinkPrices, OneHostHasNoLinks) {
  MemoryFileSystem files;
  const auto found = priced({0, 0, 0}, files);
  EXPECT_EQ(found[0].far_bytes_per_s, 0);
  EXPECT_TRUE(remembered(files).empty());
}

TEST(LinkPrices, AreRememberedForEachPairOfHosts) {
  MemoryFileSystem files;
  const auto first = priced({0, 1, 2}, files);
  const auto links = remembered(files);
  EXPECT_EQ(links.size(), 3u);
  const auto second = priced({0, 1, 2, 2}, files);
  EXPECT_EQ(remembered(files), links) << "cached links were measured again";
  EXPECT_NEAR(second[0].prices.far_byte_s, first[0].prices.far_byte_s, 1e-5 * first[0].prices.far_byte_s);
  (void)priced({0, 1, 2, 3}, files);
  EXPECT_EQ(remembered(files).size(), 6u) << "a fourth host adds three links";
}

}  // namespace
}  // namespace cohort::test
