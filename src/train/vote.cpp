#include "train/vote.h"

#include "comm/group/rank_text.h"
#include "reduce/slot_tree.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace cohort::train {
namespace {

std::vector<Tally> everybody(Communicator& group, const Tally& mine) {
  std::vector<Tally> all(static_cast<std::size_t>(group.size()));
  value_or_throw(group.run(
      all_gather({&mine, sizeof(Tally), DType::kU8}, {all.data(), all.size() * sizeof(Tally), DType::kU8})));
  return all;
}

double summed(const std::vector<Tally>& all, double Tally::*member) {
  std::vector<double> numbers;
  for (const Tally& tally : all) numbers.push_back(tally.*member);
  return sum_as_tree(numbers);
}

// Ranks with other programs would wait for each other in calls that do not match.
void compare_programs(const Communicator& group, const std::vector<Tally>& all) {
  std::vector<std::uint64_t> hashes;
  for (const Tally& tally : all) hashes.push_back(tally.program_hash);
  const std::vector<int> ranks = group.facts().global(deviating_ranks(hashes));
  if (ranks.empty()) return;
  raise(Error(ErrorCode::kCorrupt,
              fmt::format("the program of {} differs from those of the others", comm::ranks_text(ranks)))
            .with_rank(ranks.front())
            .with_remedy("Start all ranks with the same program, module and options; `cohort train --dry-run "
                         "--json` prints the actions of every rank."));
}

void compare_replicas(const Communicator& group, const std::vector<Tally>& all) {
  std::vector<std::uint64_t> hashes;
  for (const Tally& tally : all) {
    if (tally.has_hash == 0) return;
    hashes.push_back(tally.replica_hash);
  }
  const std::vector<int> ranks = group.facts().global(deviating_ranks(hashes));
  if (ranks.empty()) return;
  raise(Error(ErrorCode::kCorrupt,
              fmt::format("the parameters of {} differ from those of the others", comm::ranks_text(ranks)))
            .with_remedy(
                "Something on that rank wrote to the parameters outside of the update, or its memory is at "
                "fault. Start again from the last model that was written."));
}

std::optional<BadLoss> first_bad_loss(const Communicator& group, const std::vector<Tally>& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].bad_slot < 0) continue;
    return BadLoss{group.global_rank(static_cast<int>(rank)), all[rank].bad_slot, all[rank].loss};
  }
  return std::nullopt;
}

}  // namespace

std::vector<int> deviating_ranks(const std::vector<std::uint64_t>& hashes) {
  std::map<std::uint64_t, int> votes;
  for (const std::uint64_t hash : hashes) ++votes[hash];
  std::uint64_t common = hashes.empty() ? 0 : hashes.front();
  for (const auto& [hash, count] : votes) {
    if (count * 2 > static_cast<int>(hashes.size())) common = hash;
  }
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < hashes.size(); ++rank) {
    if (hashes[rank] != common) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

Verdict vote(Communicator& group, const Tally& mine) {
  const std::vector<Tally> all = everybody(group, mine);
  compare_programs(group, all);
  compare_replicas(group, all);
  Verdict verdict;
  verdict.weight = summed(all, &Tally::weight);
  verdict.samples = summed(all, &Tally::samples);
  verdict.loss = summed(all, &Tally::loss) / verdict.weight;
  verdict.correct = summed(all, &Tally::correct);
  verdict.counted = summed(all, &Tally::counted);
  ExactSum square_sum;
  for (const Tally& tally : all) square_sum.add(tally.square_sum);
  verdict.gradient_norm = std::sqrt(square_sum.value()) / verdict.weight;
  for (const Tally& tally : all) {
    verdict.stop = verdict.stop || tally.wants_to_stop != 0;
    verdict.save = verdict.save || tally.wants_to_save != 0;
    verdict.overflow_stages |= tally.overflow_stages;
  }
  verdict.bad_loss = first_bad_loss(group, all);
  return verdict;
}

}  // namespace cohort::train
