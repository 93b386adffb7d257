#include "checkpoint/share_out.h"

#include "layout/slice.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>

namespace cohort::checkpoint {
namespace {

struct Holder {
  std::size_t rank = 0;
  std::size_t piece = 0;
};

/// A tensor, and the pieces of it that ranks hold.
struct Tensor {
  const Piece* first = nullptr;
  std::size_t size_bytes = 0;
  std::vector<Holder> holders{};
};

class Sharing {
 public:
  explicit Sharing(std::span<const std::vector<Piece>> held)
      : held_(held), loads_(held.size()), portions_(held.size()) {}

  Status run() {
    COHORT_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, collect());
    // Those with a single holder come first, then the large ones: small ones even out the rest.
    std::stable_sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) {
      const auto has_choice = [](const Tensor& each) { return each.holders.size() > 1; };
      if (has_choice(a) != has_choice(b)) return has_choice(b);
      return a.size_bytes > b.size_bytes;
    });
    for (Tensor& tensor : tensors) COHORT_RETURN_IF_ERROR(share(tensor));
    sort_portions();
    return {};
  }

  std::vector<std::vector<Portion>> take() { return std::move(portions_); }

 private:
  const Piece& piece_of(const Holder& holder) const { return held_[holder.rank][holder.piece]; }

  Result<std::vector<Tensor>> collect() const {
    std::map<std::string_view, std::size_t> indices;
    std::vector<Tensor> tensors;
    for (std::size_t rank = 0; rank < held_.size(); ++rank) {
      for (std::size_t p = 0; p < held_[rank].size(); ++p) {
        const Piece& piece = held_[rank][p];
        const auto [found, is_new] = indices.try_emplace(piece.name, tensors.size());
        if (is_new) {
          tensors.push_back(
              {.first = &piece, .size_bytes = num_elements(piece.shape) * size_bytes(piece.dtype)});
        }
        Tensor& tensor = tensors[found->second];
        COHORT_RETURN_IF_ERROR(check_same(*tensor.first, piece, rank));
        tensor.holders.push_back({rank, p});
      }
    }
    return tensors;
  }

  static Status check_same(const Piece& a, const Piece& b, std::size_t rank) {
    if (a.dtype == b.dtype && a.shape == b.shape && a.merge == b.merge) return {};
    return Error(ErrorCode::kUsage,
                 fmt::format("type, shape or merge rule of '{}' differs on rank {}", a.name, rank));
  }

  Status share(Tensor& tensor) {
    // A rank that holds all of the tensor comes before one that holds a part, which would divide it.
    const Slice all = whole(tensor.first->shape);
    const auto order = [&](const Holder& each) {
      return std::pair(piece_of(each).mine != all, loads_[each.rank]);
    };
    std::stable_sort(tensor.holders.begin(), tensor.holders.end(),
                     [&](const Holder& a, const Holder& b) { return order(a) < order(b); });
    std::vector<Slice> slices;
    for (const Holder& holder : tensor.holders) slices.push_back(piece_of(holder).mine);
    const Cover found = cover(slices, all);
    if (!found.missing.empty()) {
      return Error(ErrorCode::kUsage, fmt::format("no rank holds element {} of '{}'",
                                                  found.missing.front().first, tensor.first->name));
    }
    if (num_elements(tensor.first->shape) == 0) add(tensor.holders.front(), {.count = 0});
    for (const Run& run : joined_runs(found, slices.size())) add(tensor.holders[run.to], run);
    return {};
  }

  // In the result `to` is the index of the holder. Runs that lie side by side in the memory of a holder are
  // one portion, wherever they belong in the tensor.
  static std::vector<Run> joined_runs(const Cover& found, std::size_t num_holders) {
    std::vector<std::vector<Run>> by_holder(num_holders);
    for (const SourceRun& part : found.parts) {
      by_holder[part.source].push_back({part.run.from, part.source, part.run.count});
    }
    std::vector<Run> all;
    for (std::vector<Run>& runs : by_holder) {
      std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.from < b.from; });
      std::size_t end = 0;
      for (const Run& run : runs) {
        const bool continues = &run != &runs.front() && run.from == end;
        if (continues) {
          all.back().count += run.count;
        } else {
          all.push_back(run);
        }
        end = run.from + run.count;
      }
    }
    return all;
  }

  void add(const Holder& holder, const Run& run) {
    const Piece& piece = piece_of(holder);
    Slice mine = piece.mine;
    mine.first += run.from;
    mine.count = run.count;
    portions_[holder.rank].push_back({.piece = holder.piece, .mine = std::move(mine), .first = run.from});
    loads_[holder.rank] += run.count * size_bytes(piece.dtype);
  }

  void sort_portions() {
    for (std::vector<Portion>& portions : portions_) {
      std::sort(portions.begin(), portions.end(), [](const Portion& a, const Portion& b) {
        return std::pair(a.piece, a.first) < std::pair(b.piece, b.first);
      });
    }
  }

  const std::span<const std::vector<Piece>> held_;
  std::vector<std::size_t> loads_;  // per rank, in bytes
  std::vector<std::vector<Portion>> portions_;
};

}  // namespace

Result<std::vector<std::vector<Portion>>> share_out(std::span<const std::vector<Piece>> held) {
  Sharing sharing(held);
  COHORT_RETURN_IF_ERROR(sharing.run().within("the state cannot be shared out among its writers"));
  return sharing.take();
}

}  // namespace cohort::checkpoint
