#include "copies/neighbour_copies.h"
#include "state/gather_lists.h"
#include "state/peer_source.h"

#include <fmt/format.h>
#include <limits>

namespace cohort {
namespace {

using copies::Offer;

constexpr std::size_t kNumbersOfOffer = 6;

void put(std::uint64_t shelf, const Offer& offer, std::vector<std::int64_t>& numbers) {
  for (const std::uint64_t number :
       {shelf, std::uint64_t{offer.is_own}, static_cast<std::uint64_t>(offer.area),
        std::uint64_t{offer.parcel}, offer.stamp.key, static_cast<std::uint64_t>(offer.stamp.version)}) {
    numbers.push_back(static_cast<std::int64_t>(number));
  }
}

// The offers of all ranks from the shelf with this number.
std::vector<Offer> offers_in(const std::vector<std::vector<std::int64_t>>& by_rank, std::uint64_t shelf) {
  std::vector<Offer> all;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    const std::vector<std::int64_t>& numbers = by_rank[rank];
    for (std::size_t i = 0; i + kNumbersOfOffer <= numbers.size(); i += kNumbersOfOffer) {
      if (static_cast<std::uint64_t>(numbers[i]) != shelf) continue;
      all.push_back({.reader = static_cast<int>(rank),
                     .is_own = numbers[i + 1] != 0,
                     .area = static_cast<int>(numbers[i + 2]),
                     .parcel = static_cast<std::size_t>(numbers[i + 3]),
                     .stamp = {static_cast<std::uint64_t>(numbers[i + 4]), numbers[i + 5]}});
    }
  }
  return all;
}

// `missing`: of the ranks that know of a version.
Error nothing_complete(int num_ranks, const std::vector<std::vector<std::byte>>& missing) {
  std::string why = "none was kept";
  for (const auto& text : missing) {
    if (text.empty()) continue;
    why.assign(reinterpret_cast<const char*>(text.data()), text.size());
    break;
  }
  return Error(ErrorCode::kNotFound,
               fmt::format(
                   "no version of the state is complete in the memory of the {} ranks that are left: {}",
                   num_ranks, why))
      .with_remedy("Load the last checkpoint.");
}

}  // namespace

// A rank that is new, or has forgotten a shelf that others still have, only learns the result.
Result<NeighbourCopies::Kept> NeighbourCopies::last() {
  COHORT_RETURN_IF_ERROR(has_group());
  Communicator& group = *keepers_->all;
  COHORT_ASSIGN_OR_RETURN(const Found found, newest());
  const auto own_key = static_cast<std::int64_t>(found.point.stamp.key);
  COHORT_ASSIGN_OR_RETURN(const std::int64_t key, state::largest_of_all(group, own_key));
  if (key == 0) {
    const auto text = std::as_bytes(std::span(found.missing));
    COHORT_ASSIGN_OR_RETURN(const auto missing,
                            state::gather_lists(group, std::vector<std::byte>(text.begin(), text.end())));
    return nothing_complete(group.size(), missing);
  }
  const bool has_it = own_key == key;
  COHORT_ASSIGN_OR_RETURN(const std::int64_t version,
                          state::largest_of_all(group, has_it ? found.point.stamp.version
                                                              : std::numeric_limits<std::int64_t>::min()));
  Kept kept{.version = version};
  const auto parts = has_it ? found.shelf->parts_of(group.rank(), found.point) : std::vector<Piece>();
  COHORT_ASSIGN_OR_RETURN(kept.source, state::PeerSource::open(group, parts));
  return kept;
}

Result<NeighbourCopies::Found> NeighbourCopies::newest() const {
  std::vector<std::int64_t> numbers;
  for (const auto& shelf : shelves_) {
    for (const Offer& offer : shelf->offers(keepers_->all->rank())) put(shelf->number(), offer, numbers);
  }
  COHORT_ASSIGN_OR_RETURN(const auto by_rank, state::gather_lists(*keepers_->all, numbers));
  Found found;
  for (auto shelf = shelves_.rbegin(); shelf != shelves_.rend(); ++shelf) {
    const std::vector<Offer> offers = offers_in(by_rank, (*shelf)->number());
    auto point = copies::resume_point((*shelf)->plan(), offers);
    if (point) return Found{.shelf = shelf->get(), .point = std::move(*point)};
    if (found.missing.empty() && !offers.empty()) found.missing = point.error().message();
  }
  return found;
}

}  // namespace cohort
