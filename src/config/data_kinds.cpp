#include "config/data_kinds.h"

#include "base/check.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::config {

const DataKind& data_kind(std::string_view name) {
  const auto found = std::find_if(std::begin(kDataKinds), std::end(kDataKinds),
                                  [&](const DataKind& kind) { return kind.name == name; });
  COHORT_CHECK(found != std::end(kDataKinds), "no data of kind '{}'", name);
  return *found;
}

std::vector<std::string_view> file_kinds() {
  return data_kinds_where([](const DataKind& kind) { return kind.is_in_files; });
}

std::string quoted_kinds(DataContent content) {
  const auto names = data_kinds_where([&](const DataKind& kind) { return kind.content == content; });
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const char* const before = i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
    text += fmt::format("{}\"{}\"", before, names[i]);
  }
  return text;
}

}  // namespace cohort::config
