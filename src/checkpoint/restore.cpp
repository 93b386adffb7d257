#include "checkpoint/restore.h"

#include "checkpoint/host_shares.h"
#include "checkpoint/snapshot_folder.h"
#include "state/gather_lists.h"
#include "state/move.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace cohort::checkpoint {
namespace {

constexpr std::chrono::hours kLongestRead{24};

std::set<std::string_view> names_in(const Snapshot& snapshot) {
  std::set<std::string_view> names;
  for (const state::HeldPiece& held : snapshot.held()) names.insert(held.piece.name);
  return names;
}

Error not_taken(std::string_view name) {
  return Error(ErrorCode::kUsage,
               fmt::format("it has a tensor '{}', which this training does not have", name))
      .with_remedy(
          "Go on with the same model and the same optimizer; to begin anew with its weights, name its "
          "model file as model.initial.");
}

class Restoring {
 public:
  Restoring(Communicator* group, FileSystem& files, const RestoreOrder& order, const Targets& targets)
      : group_(group), files_(files), order_(order), targets_(targets) {}

  Result<std::optional<Restored>> run() {
    COHORT_ASSIGN_OR_RETURN(const std::vector<std::string> names, candidates());
    if (names.empty() && !order_.name) return std::nullopt;
    Restored restored{.newer = newer_than_asked_};
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      COHORT_ASSIGN_OR_RETURN(const std::optional<Error> damage, take(*name, restored));
      if (!damage) return restored;
      restored.damaged.push_back(*damage);
      restored.newer.push_back(*name);
    }
    if (order_.name && !restored.damaged.empty()) return restored.damaged.front();
    if (!restored.damaged.empty()) return restored.damaged.front().within("no snapshot is whole");
    return of_first(Error(ErrorCode::kNotFound,
                          fmt::format("there is no snapshot '{}' in '{}'", *order_.name, order_.folder))
                        .with_remedy("`cohort checkpoint list` shows the snapshots of a folder."));
  }

 private:
  // The names that rank 0 sees, so that all ranks try the same ones.
  Result<std::vector<std::string>> candidates() {
    std::string text;
    Status listed;
    if (rank() == 0) {
      const auto names = list_snapshots(files_, order_.folder);
      if (!names) listed = names.error();
      for (const std::string& name : names.value_or(std::vector<std::string>())) text += name + "\n";
    }
    COHORT_RETURN_IF_ERROR(agreed(listed));
    COHORT_ASSIGN_OR_RETURN(text, of_first(text));
    std::vector<std::string> names;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      names.push_back(text.substr(at, text.find('\n', at) - at));
    }
    if (order_.name) keep_asked(names);
    return names;
  }

  void keep_asked(std::vector<std::string>& names) {
    const auto asked = std::find(names.begin(), names.end(), *order_.name);
    if (asked == names.end()) return names.clear();
    newer_than_asked_.assign(asked + 1, names.end());
    names = {*asked};
  }

  // The damage of the snapshot, if it cannot be taken; an error if that has another reason.
  Result<std::optional<Error>> take(const std::string& name, Restored& restored) {
    auto snapshot = Snapshot::open(files_, order_.folder, name);
    Status done = snapshot ? Status() : Status(snapshot.error());
    COHORT_ASSIGN_OR_RETURN(std::optional<Error> damage, judged(done));
    if (damage) return damage;
    const auto targets = targets_((*snapshot)->manifest());
    Status fits = agreed(targets ? Status() : Status(targets.error()));
    if (fits) fits = check_all_taken(**snapshot, *targets);
    COHORT_RETURN_IF_ERROR(
        std::move(fits).within(fmt::format("training cannot go on from the snapshot '{}'", name)));
    std::vector<Piece> parts = *targets;
    if (group_ != nullptr) {
      COHORT_ASSIGN_OR_RETURN(parts, own_parts(*group_, *targets));
    }
    COHORT_ASSIGN_OR_RETURN(
        damage,
        judged(state::move(parts, **snapshot).within(fmt::format("cannot read the snapshot '{}'", name))));
    restored.name = name;
    restored.course = (*snapshot)->manifest().course;
    return damage;
  }

  // A tensor of the snapshot that no rank takes would be lost at the next save.
  Status check_all_taken(const Snapshot& snapshot, std::span<const Piece> targets) {
    const std::set<std::string_view> names = names_in(snapshot);
    std::set<std::string_view> taken;
    for (const Piece& target : targets) taken.insert(target.name);
    std::vector<std::uint8_t> mine;  // per name: 1 if this rank takes the tensor
    for (const std::string_view name : names) mine.push_back(taken.contains(name) ? 1 : 0);
    COHORT_ASSIGN_OR_RETURN(const auto by_rank, of_all(mine));
    std::size_t index = 0;
    for (const std::string_view name : names) {
      const auto takes = [index](const std::vector<std::uint8_t>& flags) { return flags[index] != 0; };
      if (std::none_of(by_rank.begin(), by_rank.end(), takes)) return not_taken(name);
      ++index;
    }
    return {};
  }

  // All ranks draw the same conclusion: damage if a rank has found damage, an error for any other failure,
  // such as that of the group itself.
  Result<std::optional<Error>> judged(const Status& mine) {
    const bool is_damage =
        !mine && (mine.error().code() == ErrorCode::kCorrupt || mine.error().code() == ErrorCode::kNotFound);
    COHORT_RETURN_IF_ERROR(agreed(is_damage ? Status() : mine));
    const Status all = agreed(is_damage ? mine : Status());
    if (all) return std::nullopt;
    if (const auto failure = group_ == nullptr ? std::nullopt : group_->failure()) return *failure;
    return std::optional<Error>(all.error());
  }

  int rank() const { return group_ == nullptr ? 0 : group_->rank(); }

  Status agreed(const Status& mine) {
    return group_ == nullptr ? mine : state::agree(*group_, mine, kLongestRead);
  }

  template <class Number>
  Result<std::vector<std::vector<Number>>> of_all(const std::vector<Number>& mine) {
    if (group_ == nullptr) return std::vector<std::vector<Number>>{mine};
    return state::gather_lists(*group_, mine, kLongestRead);
  }

  // An error that all ranks have, and that rank 0 reports.
  Error of_first(const Error& error) const {
    if (rank() == 0) return error;
    return Error(ErrorCode::kAborted, fmt::format("rank 0 failed: {}", error.text())).with_rank(0);
  }

  Result<std::string> of_first(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    COHORT_ASSIGN_OR_RETURN(const auto all, of_all(std::vector<std::byte>(bytes.begin(), bytes.end())));
    return std::string(reinterpret_cast<const char*>(all.front().data()), all.front().size());
  }

  Communicator* const group_;  // null: this process is alone
  FileSystem& files_;
  const RestoreOrder& order_;
  const Targets& targets_;
  std::vector<std::string> newer_than_asked_;
};

}  // namespace

Result<std::optional<Restored>> restore(Communicator& group, FileSystem& files, const RestoreOrder& order,
                                        const Targets& targets) {
  return Restoring(&group, files, order, targets).run();
}

Result<std::optional<Restored>> restore(FileSystem& files, const RestoreOrder& order,
                                        const Targets& targets) {
  return Restoring(nullptr, files, order, targets).run();
}

}  // namespace cohort::checkpoint
