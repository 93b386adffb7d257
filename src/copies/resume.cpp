#include "copies/resume.h"

#include "layout/slice.h"

#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace cohort::copies {
namespace {

// By area and parcel: the ranks that read it.
using Readers = std::map<std::pair<int, std::size_t>, std::vector<int>>;
struct Version {
  Stamp stamp{};
  Readers readers{};
};

std::map<std::uint64_t, Version, std::greater<>> newest_first(std::span<const Offer> offers) {
  std::map<std::uint64_t, Version, std::greater<>> versions;
  for (const Offer& offer : offers) {
    Version& version = versions[offer.stamp.key];
    version.stamp = offer.stamp;
    if (offer.is_own) version.readers[{offer.area, offer.parcel}] = {offer.reader};
  }
  std::set<int> owned;
  for (const Offer& offer : offers) {
    if (offer.is_own) owned.insert(offer.area);
  }
  for (const Offer& offer : offers) {
    if (owned.contains(offer.area)) continue;
    versions[offer.stamp.key].readers[{offer.area, offer.parcel}].push_back(offer.reader);
  }
  return versions;
}

std::optional<PartReader> reader_of(const Part& part, std::size_t index, const Readers& readers) {
  for (std::size_t copy = 0; copy < part.copies.size(); ++copy) {
    const auto found = readers.find({part.copies[copy].area, part.copies[copy].parcel});
    if (found == readers.end()) continue;
    return PartReader{.reader = found->second[index % found->second.size()], .copy = copy};
  }
  return std::nullopt;
}

Error incomplete(const CopyPlan& plan, const Version& newest) {
  std::size_t num_missing = 0;
  const Part* first = nullptr;
  for (std::size_t i = 0; i < plan.parts.size(); ++i) {
    if (reader_of(plan.parts[i], i, newest.readers)) continue;
    if (first == nullptr) first = &plan.parts[i];
    ++num_missing;
  }
  const Piece& piece = plan.pieces[first->piece];
  Slice slice = piece.mine;
  slice.first += first->first;
  slice.count = first->count;
  return Error(
      ErrorCode::kNotFound,
      fmt::format("version {} lacks {} of {} parts, '{}' ({}) first: the ranks that kept them are lost",
                  newest.stamp.version, num_missing, plan.parts.size(), piece.name, text_of(slice)));
}

}  // namespace

Result<ResumePoint> resume_point(const CopyPlan& plan, std::span<const Offer> offers) {
  const auto versions = newest_first(offers);
  for (const auto& [key, version] : versions) {
    ResumePoint point{.stamp = version.stamp};
    for (std::size_t part = 0; part < plan.parts.size(); ++part) {
      const auto reader = reader_of(plan.parts[part], part, version.readers);
      if (!reader) break;
      point.readers.push_back(*reader);
    }
    if (point.readers.size() == plan.parts.size()) return point;
  }
  if (!versions.empty()) return incomplete(plan, versions.begin()->second);
  return Error(ErrorCode::kNotFound, "no rank that is left holds a copy of the state");
}

}  // namespace cohort::copies
