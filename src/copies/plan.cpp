#include "copies/plan.h"

#include "comm/shared_memory/layout.h"
#include "copies/placement.h"
#include "layout/slice.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace cohort::copies {
namespace {

std::size_t aligned(std::size_t size_bytes) {
  return (size_bytes + comm::kCacheLine - 1) / comm::kCacheLine * comm::kCacheLine;
}

class Planner {
 public:
  Planner(std::span<const std::vector<Piece>> by_rank, std::span<const int> hosts)
      : hosts_(hosts), keepers_(place_keepers(hosts)) {
    plan_.areas.resize(by_rank.size());
    collect(by_rank);
    for (const auto& [ranks, pieces] : alike_) cut(ranks, pieces);
    lay_out();
  }

  CopyPlan take() { return std::move(plan_); }

 private:
  // By rank: the index of the piece among its own.
  using Holders = std::map<int, std::size_t>;
  struct PlannedPart {
    std::vector<int> kept_by{};  // ranks that copy it from their own memory
    bool is_sent = false;        // by the first of them
  };

  bool spans_hosts(std::span<const int> hosts) const {
    return std::any_of(hosts.begin(), hosts.end(), [&](int host) { return host != hosts.front(); });
  }

  // Copies that are merged differ from rank to rank: each is a piece of its own.
  void collect(std::span<const std::vector<Piece>> by_rank) {
    std::map<std::tuple<std::string, std::string, int>, std::size_t> seen;
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
      for (std::size_t i = 0; i < by_rank[rank].size(); ++i) {
        const Piece& piece = by_rank[rank][i];
        if (piece.mine.count == 0) continue;
        const int owner = piece.merge == Merge::kSame ? -1 : static_cast<int>(rank);
        const auto [found, is_new] =
            seen.try_emplace({piece.name, text_of(piece.mine), owner}, plan_.pieces.size());
        if (is_new) add(piece);
        holders_[found->second].try_emplace(static_cast<int>(rank), i);
      }
    }
    for (std::size_t piece = 0; piece < plan_.pieces.size(); ++piece) {
      std::vector<int> ranks;
      for (const auto& [rank, unused] : holders_[piece]) ranks.push_back(rank);
      alike_[ranks].push_back(piece);
    }
  }

  void add(const Piece& piece) {
    plan_.pieces.push_back(piece);
    plan_.pieces.back().bytes = {};
    holders_.emplace_back();
  }

  // Cuts pieces that the same ranks have, laid end to end, into as many ranges of bytes as there are ranks.
  void cut(const std::vector<int>& ranks, const std::vector<std::size_t>& pieces) {
    std::size_t total = 0;
    for (const std::size_t piece : pieces) total += aligned(bytes_of(piece));
    std::vector<int> hosts;
    for (const int rank : ranks) hosts.push_back(hosts_[static_cast<std::size_t>(rank)]);
    const std::vector<int> partners = place_keepers(hosts);
    const std::size_t num_lines = total / comm::kCacheLine;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      PlannedPart planned{.kept_by = {ranks[i]}, .is_sent = !spans_hosts(hosts) && spans_hosts(hosts_)};
      if (spans_hosts(hosts)) planned.kept_by.push_back(ranks[static_cast<std::size_t>(partners[i])]);
      add_range(pieces, num_lines * i / ranks.size() * comm::kCacheLine,
                num_lines * (i + 1) / ranks.size() * comm::kCacheLine, planned);
    }
  }

  void add_range(const std::vector<std::size_t>& pieces, std::size_t begin, std::size_t end,
                 const PlannedPart& planned) {
    std::size_t before = 0;  // the bytes of the pieces so far
    for (const std::size_t piece : pieces) {
      const std::size_t size = size_bytes(plan_.pieces[piece].dtype), length = bytes_of(piece);
      const std::size_t first = std::clamp(begin, before, before + length) - before;
      const std::size_t last = std::clamp(end, before, before + length) - before;
      before += aligned(length);
      if (first == last) continue;
      plan_.parts.push_back({.piece = piece, .first = first / size, .count = (last - first) / size});
      planned_.push_back(planned);
    }
  }

  // The parts that are sent lie at the beginning of a slot.
  void lay_out() {
    for (const bool is_sent : {true, false}) {
      for (std::size_t part = 0; part < plan_.parts.size(); ++part) {
        if (planned_[part].is_sent == is_sent) lay_out_own(part);
      }
      for (AreaPlan& area : plan_.areas) {
        if (is_sent) area.sent_bytes = area.slot_bytes;
      }
    }
    for (std::size_t rank = 0; rank < plan_.areas.size(); ++rank) {
      AreaPlan& area = plan_.areas[rank];
      area.keeper = keepers_[rank];
      area.parcels.insert(area.parcels.begin(), {static_cast<int>(rank), 0, area.slot_bytes});
    }
    for (std::size_t rank = 0; rank < plan_.areas.size(); ++rank) add_parcel(static_cast<int>(rank));
  }

  void lay_out_own(std::size_t part) {
    Part& each = plan_.parts[part];
    for (const int rank : planned_[part].kept_by) {
      AreaPlan& area = plan_.areas[static_cast<std::size_t>(rank)];
      area.own.push_back({.part = part, .piece = holders_[each.piece].at(rank), .offset = area.slot_bytes});
      each.copies.push_back({.area = rank, .parcel = 0, .offset = area.slot_bytes});
      area.slot_bytes += aligned(each.count * size_bytes(plan_.pieces[each.piece].dtype));
    }
  }

  void add_parcel(int from) {
    const AreaPlan& sender = plan_.areas[static_cast<std::size_t>(from)];
    if (sender.sent_bytes == 0) return;
    AreaPlan& keeper = plan_.areas[static_cast<std::size_t>(sender.keeper)];
    for (const OwnCopy& own : sender.own) {
      if (own.offset >= sender.sent_bytes) break;
      plan_.parts[own.part].copies.push_back(
          {.area = sender.keeper, .parcel = keeper.parcels.size(), .offset = keeper.slot_bytes + own.offset});
    }
    keeper.parcels.push_back({from, keeper.slot_bytes, sender.sent_bytes});
    keeper.slot_bytes += sender.sent_bytes;
  }

  std::size_t bytes_of(std::size_t piece) const {
    return plan_.pieces[piece].mine.count * size_bytes(plan_.pieces[piece].dtype);
  }

  const std::span<const int> hosts_;
  const std::vector<int> keepers_;
  CopyPlan plan_;
  std::vector<Holders> holders_;                                // by piece of the plan
  std::map<std::vector<int>, std::vector<std::size_t>> alike_;  // by ranks: the pieces that they have
  std::vector<PlannedPart> planned_;                            // by part
};

}  // namespace

CopyPlan plan_copies(std::span<const std::vector<Piece>> by_rank, std::span<const int> hosts) {
  return Planner(by_rank, hosts).take();
}

}  // namespace cohort::copies
