#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cohort::config {

/// The samples of a kind of data.
enum class DataContent {
  kImages,    ///< images of classes
  kRows,      ///< rows of numbers, with a class or a number each
  kTokens,    ///< sequences of tokens
  kPoints,    ///< points of classes
  kFunction,  ///< numbers with a number that depends on them
};

/// A value of data.kind.
struct DataKind {
  std::string_view name;
  DataContent content;
  bool is_in_files;  ///< otherwise a generator makes the samples
};

inline constexpr DataKind kDataKinds[] = {
    {"idx", DataContent::kImages, true},
    {"cifar", DataContent::kImages, true},
    {"csv", DataContent::kRows, true},
    {"text", DataContent::kTokens, true},
    {"digits", DataContent::kImages, false},
    {"spirals", DataContent::kPoints, false},
    {"regression", DataContent::kFunction, false},
    {"markov", DataContent::kTokens, false},
};

/// The kind with this name, which exists.
const DataKind& data_kind(std::string_view name);
/// The names of all kinds that the predicate is true for.
template <class Predicate>
std::vector<std::string_view> data_kinds_where(Predicate predicate) {
  std::vector<std::string_view> names;
  for (const DataKind& kind : kDataKinds) {
    if (predicate(kind)) names.push_back(kind.name);
  }
  return names;
}
/// Those of files.
std::vector<std::string_view> file_kinds();
/// As in a sentence: `"idx", "cifar" or "digits"`.
std::string quoted_kinds(DataContent content);

}  // namespace cohort::config
