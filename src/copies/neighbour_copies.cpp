#include "copies/neighbour_copies.h"

#include "state/gather_lists.h"

#include <fmt/format.h>

namespace cohort {
namespace {

using copies::Shelf;
using copies::Stamp;

constexpr int kBitsOfCount = 32;  // of a key: the versions of one term

}  // namespace

// The messages end with their group, before the memory that they are sent from.
NeighbourCopies::~NeighbourCopies() {
  keepers_.reset();
  (void)delivery_.finish();
}

Status NeighbourCopies::join(Communicator& group) {
  (void)delivery_.finish();  // parcels that came before the failure are sealed, the others are not
  current_ = nullptr;
  has_kept_ = false;
  num_kept_ = 0;
  keepers_.reset();
  COHORT_ASSIGN_OR_RETURN(const auto term, state::largest_of_all(group, static_cast<std::int64_t>(term_)));
  COHORT_ASSIGN_OR_RETURN(keepers_, copies::Keepers::of(group));
  term_ = static_cast<std::uint64_t>(term) + 1;
  return {};
}

Status NeighbourCopies::keep(std::int64_t version, std::span<const Piece> mine) {
  const auto about = [&] { return fmt::format("version {} of the state was not copied", version); };
  bool is_new_layout = current_ == nullptr || !current_->fits(mine);
  COHORT_RETURN_IF_ERROR(begin(is_new_layout).within(about()));
  forget_earlier();
  if (is_new_layout) COHORT_RETURN_IF_ERROR(open_shelf(mine).within(about()));
  const Stamp stamp{.key = term_ << kBitsOfCount | ++num_kept_, .version = version};
  const std::size_t slot = num_kept_ % copies::kNumSlots;
  current_->copy(slot, stamp, mine);
  has_kept_ = true;
  delivery_.start(*keepers_->all, *current_, slot, stamp);
  if (keepers_->near == nullptr) return {};
  return keepers_->near->run(barrier()).within(about());  // memory of the host may change from here on
}

Status NeighbourCopies::has_group() const {
  if (keepers_) return {};
  return Error(ErrorCode::kUsage, "the copies belong to no group")
      .with_remedy("Call NeighbourCopies::join() with a group first.");
}

// No rank goes on before the last version is complete on all ranks: the version before it may be overwritten
// then. No rank reads memory of the host before all ranks have written theirs.
Status NeighbourCopies::begin(bool& is_new_layout) {
  COHORT_RETURN_IF_ERROR(has_group());
  COHORT_RETURN_IF_ERROR(delivery_.finish());
  COHORT_ASSIGN_OR_RETURN(const auto is_new, state::largest_of_all(*keepers_->all, is_new_layout ? 1 : 0));
  is_new_layout = is_new != 0;
  return {};
}

// The last version is complete: no rank asks for those of earlier layouts and groups any more.
void NeighbourCopies::forget_earlier() {
  if (!has_kept_ || shelves_.size() == 1) return;
  for (auto& shelf : shelves_) {
    if (shelf.get() != current_) shelf->give_back();
  }
  shelves_.erase(shelves_.begin(), shelves_.end() - 1);
}

Status NeighbourCopies::open_shelf(std::span<const Piece> mine) {
  const std::uint64_t number = term_ << kBitsOfCount | (num_kept_ + 1);
  COHORT_ASSIGN_OR_RETURN(auto shelf, Shelf::open(*keepers_, arena_, mine, number));
  shelves_.push_back(std::move(shelf));
  current_ = shelves_.back().get();
  has_kept_ = false;
  return {};
}

Status NeighbourCopies::settle() {
  bool is_new_layout = false;
  return begin(is_new_layout).within("the last copies are not complete");
}

void NeighbourCopies::abort(const Error& cause) {
  if (!keepers_) return;
  keepers_->all->abort(cause);
  if (keepers_->near != nullptr) keepers_->near->abort(cause);
}

void NeighbourCopies::give_back() {
  (void)delivery_.finish();
  for (auto& shelf : shelves_) shelf->give_back();
  shelves_.clear();
  current_ = nullptr;
  has_kept_ = false;
}

}  // namespace cohort
