#include "copies/plan.h"

#include "copies/random_state.h"
#include "copies/resume.h"
#include "soak.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

namespace cohort::test {
namespace {

using copies::CopyPlan;
using copies::Offer;
using copies::plan_copies;
using copies::resume_point;

constexpr std::int64_t kVersion = 40;

struct Job {
  std::vector<int> hosts{};
  std::vector<std::vector<Piece>> pieces{};
  CopyPlan plan{};

  explicit Job(std::uint64_t seed) {
    Dice dice(seed);
    const std::size_t world = 1 + dice.below(8), num_hosts = 1 + dice.below(world);
    for (std::size_t rank = 0; rank < world; ++rank) hosts.push_back(static_cast<int>(dice.below(num_hosts)));
    pieces = RandomState(seed, 6).layout(world, seed);
    plan = plan_copies(pieces, hosts);
  }
  std::size_t world() const { return hosts.size(); }
  std::size_t num_hosts() const { return std::set(hosts.begin(), hosts.end()).size(); }
};

// Everything that the ranks that are left can read, with this stamp where `has` says so.
template <class Has>
void add_offers(const Job& job, const std::set<int>& lost, copies::Stamp stamp, const Has& has,
                std::vector<Offer>& offers) {
  int reader = 0;
  for (int rank = 0; rank < static_cast<int>(job.world()); ++rank) {
    if (lost.contains(rank)) continue;
    for (int area = 0; area < static_cast<int>(job.world()); ++area) {
      if (job.hosts[static_cast<std::size_t>(area)] != job.hosts[static_cast<std::size_t>(rank)]) continue;
      for (std::size_t p = 0; p < job.plan.areas[static_cast<std::size_t>(area)].parcels.size(); ++p) {
        if (has(area, p)) offers.push_back({reader, area == rank, area, p, stamp});
      }
    }
    ++reader;
  }
}

std::vector<Offer> offers_without(const Job& job, const std::set<int>& lost) {
  std::vector<Offer> offers;
  add_offers(
      job, lost, {.key = 9, .version = kVersion}, [](int, std::size_t) { return true; }, offers);
  return offers;
}

TEST(CopyPlan, PartsAreAllElementsOfAllPiecesOnce) {
  for (std::uint64_t seed = 0; seed < rounds(400u, 20'000u); ++seed) {
    const Job job(seed);
    std::vector<std::size_t> next(job.plan.pieces.size());
    for (const copies::Part& part : job.plan.parts) {
      ASSERT_EQ(part.first, next[part.piece]) << "seed " << seed;
      ASSERT_GT(part.count, 0u);
      next[part.piece] += part.count;
    }
    for (std::size_t p = 0; p < next.size(); ++p) ASSERT_EQ(next[p], job.plan.pieces[p].mine.count);
    // Every piece of every rank is one of the plan's; merged copies are pieces of their own.
    std::size_t num_merged = 0, num_merged_planned = 0;
    for (const auto& mine : job.pieces) {
      for (const Piece& piece : mine) {
        if (piece.mine.count == 0) continue;
        if (piece.merge != Merge::kSame) ++num_merged;
        const auto same = [&](const Piece& other) {
          return other.name == piece.name && other.mine == piece.mine;
        };
        ASSERT_TRUE(std::any_of(job.plan.pieces.begin(), job.plan.pieces.end(), same));
      }
    }
    for (const Piece& piece : job.plan.pieces) num_merged_planned += piece.merge != Merge::kSame ? 1 : 0;
    ASSERT_EQ(num_merged_planned, num_merged);
  }
}

TEST(CopyPlan, RanksCopyPartsThatTheyHaveAndPlacesDoNotOverlap) {
  for (std::uint64_t seed = 0; seed < rounds(400u, 20'000u); ++seed) {
    const Job job(seed);
    for (std::size_t rank = 0; rank < job.world(); ++rank) {
      const copies::AreaPlan& area = job.plan.areas[rank];
      std::size_t end = 0;
      for (const copies::OwnCopy& own : area.own) {
        const copies::Part& part = job.plan.parts[own.part];
        const Piece& mine = job.pieces[rank][own.piece];
        ASSERT_EQ(mine.name, job.plan.pieces[part.piece].name);
        ASSERT_EQ(mine.mine, job.plan.pieces[part.piece].mine);
        ASSERT_GE(own.offset, end);
        ASSERT_EQ(own.offset % 64, 0u);
        end = own.offset + part.count * sizeof(double);
      }
      for (const copies::Parcel& parcel : area.parcels) {
        ASSERT_GE(parcel.offset, &parcel == &area.parcels.front() ? 0 : end);
        end = parcel.offset + parcel.size_bytes;
      }
      ASSERT_LE(end, area.slot_bytes);
    }
  }
}

// A part of each keeper's parcel lies where the sender has it in its own slot.
TEST(CopyPlan, ParcelsAreTheBeginningOfTheSendersSlot) {
  for (std::uint64_t seed = 0; seed < rounds(400u, 20'000u); ++seed) {
    const Job job(seed);
    for (const copies::Part& part : job.plan.parts) {
      const copies::CopyPlace& own = part.copies.front();
      ASSERT_EQ(own.parcel, 0u);
      ASSERT_EQ(part.copies.size(), job.num_hosts() > 1 ? 2u : 1u);
      const auto host_of = [&](const copies::CopyPlace& place) {
        return job.hosts[static_cast<std::size_t>(place.area)];
      };
      if (part.copies.size() == 1) continue;
      const copies::CopyPlace& other = part.copies.back();
      ASSERT_NE(host_of(other), host_of(own)) << "seed " << seed;
      if (other.parcel == 0) continue;
      const copies::Parcel& parcel =
          job.plan.areas[static_cast<std::size_t>(other.area)].parcels[other.parcel];
      ASSERT_EQ(parcel.from, own.area);
      ASSERT_EQ(other.offset - parcel.offset, own.offset);
      ASSERT_LE(own.offset + part.count * sizeof(double), parcel.size_bytes);
    }
  }
}

TEST(CopyPlan, AStateThatAllHaveAlikeIsCutEvenly) {
  for (const std::vector<int>& hosts :
       {std::vector{0, 0, 0}, std::vector{0, 0, 1, 1}, std::vector{0, 1, 2}}) {
    const Shape shape = {1001, 9};
    const std::vector<Piece> mine = {{.name = "small", .shape = {3}, .mine = whole({3})},
                                     {.name = "weight", .shape = shape, .mine = whole(shape)}};
    const CopyPlan plan = plan_copies(std::vector(hosts.size(), mine), hosts);
    const std::size_t num_copies = hosts.back() == 0 ? 1 : 2;
    for (const copies::AreaPlan& area : plan.areas) {
      EXPECT_EQ(area.parcels.size(), 1u);  // no rank sends what another host has, too
      EXPECT_NEAR(static_cast<double>(area.slot_bytes),
                  static_cast<double>(num_copies * 1001 * 9 * sizeof(float) / hosts.size()), 300);
    }
  }
}

TEST(ResumePoint, AnyRankAndAnyHostMayBeLost) {
  for (std::uint64_t seed = 0; seed < rounds(1000u, 50'000u); ++seed) {
    const Job job(seed);
    std::vector<std::set<int>> losses;
    for (int rank = 0; rank < static_cast<int>(job.world()); ++rank) losses.push_back({rank});
    for (const int host : std::set(job.hosts.begin(), job.hosts.end())) {
      std::set<int> ranks;
      for (int rank = 0; rank < static_cast<int>(job.world()); ++rank) {
        if (job.hosts[static_cast<std::size_t>(rank)] == host) ranks.insert(rank);
      }
      losses.push_back(ranks);
    }
    for (const auto& lost : losses) {
      if (lost.size() == job.world()) continue;
      const auto point = resume_point(job.plan, offers_without(job, lost));
      ASSERT_TRUE(point) << "seed " << seed << ": " << point.error().text();
      ASSERT_EQ(point->stamp.version, kVersion);
    }
  }
}

// Whether a part of the plan is among the offers, by looking at all of them.
bool has_all(const Job& job, const std::vector<Offer>& offers, std::uint64_t key) {
  return std::all_of(job.plan.parts.begin(), job.plan.parts.end(), [&](const copies::Part& part) {
    return std::any_of(offers.begin(), offers.end(), [&](const Offer& offer) {
      return offer.stamp.key == key &&
             std::any_of(part.copies.begin(), part.copies.end(), [&](const auto& copy) {
               return copy.area == offer.area && copy.parcel == offer.parcel;
             });
    });
  });
}

// Two versions of which any parcels are torn, and any ranks are lost.
TEST(ResumePoint, IsTheNewestVersionThatIsComplete) {
  int num_newer = 0, num_older = 0, num_none = 0;
  for (std::uint64_t seed = 0; seed < rounds(3000u, 200'000u); ++seed) {
    const Job job(seed);
    Dice dice(seed + 1);
    std::set<int> lost;
    for (int rank = 0; rank < static_cast<int>(job.world()); ++rank) {
      if (dice.below(4) == 0) lost.insert(rank);
    }
    std::vector<Offer> offers;
    std::size_t num_torn = 0;
    for (const std::uint64_t key : {5u, 6u}) {
      std::set<std::pair<int, std::size_t>> torn;
      for (std::size_t i = 0; i < num_torn; ++i)
        torn.insert({static_cast<int>(dice.below(job.world())), dice.below(2)});
      add_offers(
          job, lost, {.key = key, .version = static_cast<std::int64_t>(key) * 10},
          [&](int area, std::size_t parcel) {
            return !torn.contains({area, parcel});
          },
          offers);
      num_torn = dice.below(3);
    }
    std::shuffle(offers.begin(), offers.end(), std::mt19937_64(seed));
    const auto point = resume_point(job.plan, offers);
    const bool has_newer =
        has_all(job, offers, 6) &&
        std::any_of(offers.begin(), offers.end(), [](const Offer& offer) { return offer.stamp.key == 6; });
    const bool has_older =
        has_all(job, offers, 5) &&
        std::any_of(offers.begin(), offers.end(), [](const Offer& offer) { return offer.stamp.key == 5; });
    ASSERT_EQ(point.has_value(), has_newer || has_older) << "seed " << seed;
    num_newer += has_newer ? 1 : 0;
    num_older += !has_newer && has_older ? 1 : 0;
    num_none += point ? 0 : 1;
    if (!point) {
      EXPECT_EQ(point.error().code(), ErrorCode::kNotFound);
      continue;
    }
    ASSERT_EQ(point->stamp.version, has_newer ? 60 : 50) << "seed " << seed;
    for (std::size_t i = 0; i < job.plan.parts.size(); ++i) {
      const copies::PartReader& reader = point->readers[i];
      const copies::CopyPlace& place = job.plan.parts[i].copies[reader.copy];
      EXPECT_TRUE(std::any_of(offers.begin(), offers.end(), [&](const Offer& offer) {
        return offer.reader == reader.reader && offer.area == place.area && offer.parcel == place.parcel &&
               offer.stamp == point->stamp;
      }));
    }
  }
  EXPECT_GT(num_newer, 100);
  EXPECT_GT(num_older, 100);
  EXPECT_GT(num_none, 100);
}

TEST(ResumePoint, NamesTheElementsThatAreMissing) {
  const std::vector<int> hosts = {0, 1};
  std::vector<std::vector<Piece>> pieces(2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    pieces[rank] = {{.name = "weight/exp_avg", .shape = {8}, .mine = flat_range({8}, 4 * rank, 4)}};
  }
  const CopyPlan plan = plan_copies(pieces, hosts);
  const std::vector<Offer> only_own = {
      {.reader = 0, .is_own = true, .area = 0, .parcel = 0, .stamp = {3, 12}}};
  const auto point = resume_point(plan, only_own);
  ASSERT_FALSE(point);
  EXPECT_EQ(point.error().message(),
            "version 12 lacks 1 of 2 parts, 'weight/exp_avg' (elements 4 … 7 of [0…8)) first: the ranks that "
            "kept them "
            "are lost");
  EXPECT_EQ(resume_point(plan, {}).error().message(), "no rank that is left holds a copy of the state");
}

}  // namespace
}  // namespace cohort::test
