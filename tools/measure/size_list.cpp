#include "measure/size_list.h"

#include "base/units.h"

#include <fmt/format.h>
#include <set>

namespace cohort::measure {
namespace {

constexpr std::uint64_t kLargest = std::uint64_t{8} << 30;

Result<std::uint64_t> parse_size(std::string_view text) {
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t bytes, parse_bytes(text));
  if (bytes > 0 && bytes <= kLargest) return bytes;
  return Error(ErrorCode::kUsage, fmt::format("'{}' is not a size that can be measured", text))
      .with_remedy(fmt::format("Give sizes from 1 B to {}.", format_bytes(kLargest)));
}

Status add_range(std::string_view first, std::string_view last, std::set<std::uint64_t>& sizes) {
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t from, parse_size(first));
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t to, parse_size(last));
  if (from > to) {
    return Error(ErrorCode::kUsage, fmt::format("the range '{}..{}' is empty", first, last))
        .with_remedy("Write the smaller size first.");
  }
  for (std::uint64_t bytes = from; bytes <= to; bytes *= 2) sizes.insert(bytes);
  return {};
}

Status add_item(std::string_view item, std::set<std::uint64_t>& sizes) {
  const auto dots = item.find("..");
  if (dots != std::string_view::npos) return add_range(item.substr(0, dots), item.substr(dots + 2), sizes);
  COHORT_ASSIGN_OR_RETURN(const std::uint64_t bytes, parse_size(item));
  sizes.insert(bytes);
  return {};
}

}  // namespace

Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text) {
  std::set<std::uint64_t> sizes;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    COHORT_RETURN_IF_ERROR(
        add_item(rest.substr(0, comma), sizes).within(fmt::format("in the sizes '{}'", text)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return std::vector<std::uint64_t>(sizes.begin(), sizes.end());
}

}  // namespace cohort::measure
