#include "comm/schedule/team.h"

#include "base/check.h"

#include <algorithm>
#include <numeric>

namespace cohort::comm {

int Team::at(int position) const {
  return ranks[static_cast<std::size_t>(around(0, position, size()))];
}

Team whole_world(const CallFacts& facts) {
  Team team{.ranks = std::vector<int>(static_cast<std::size_t>(facts.world)), .me = facts.rank};
  std::iota(team.ranks.begin(), team.ranks.end(), 0);
  return team;
}

Cut Cut::evenly(Region whole, int num_parts) {
  Cut cut;
  cut.memory_ = whole.memory;
  for (int part = 0; part < num_parts; ++part) {
    cut.firsts_.push_back(whole.first + even_part(whole.count, part, num_parts).first);
  }
  cut.firsts_.push_back(whole.first + whole.count);
  return cut;
}

Cut Cut::by(Memory memory, const std::vector<std::size_t>& counts) {
  Cut cut;
  cut.memory_ = memory;
  cut.firsts_.push_back(0);
  for (const std::size_t count : counts) cut.firsts_.push_back(cut.firsts_.back() + count);
  return cut;
}

Region Cut::part(int position) const {
  return parts(comm::around(0, position, num_parts()), 1);
}

Region Cut::parts(int position, int num_parts) const {
  COHORT_CHECK_LE(position + num_parts, this->num_parts());
  const std::size_t first = firsts_[static_cast<std::size_t>(position)];
  const std::size_t behind =
      firsts_[static_cast<std::size_t>(position) + static_cast<std::size_t>(num_parts)];
  return {memory_, first, behind - first};
}

std::vector<Region> Cut::around(int position, int num_parts) const {
  const int first = comm::around(0, position, this->num_parts());
  const int before_end = this->num_parts() - first;
  if (num_parts <= before_end) return {parts(first, num_parts)};
  return {parts(first, before_end), parts(0, num_parts - before_end)};
}

std::size_t Cut::longest() const {
  std::size_t longest = 0;
  for (int part = 0; part < num_parts(); ++part) longest = std::max(longest, parts(part, 1).count);
  return longest;
}

int around(int position, int offset, int size) {
  const int shifted = (position + offset) % size;
  return shifted < 0 ? shifted + size : shifted;
}

int num_doublings(int size) {
  int rounds = 0;
  while ((1 << rounds) < size) ++rounds;
  return rounds;
}

}  // namespace cohort::comm
