#include "data/open.h"

#include "data/openers.h"

#include <fmt/format.h>
#include <functional>
#include <map>

namespace cohort {
namespace data {

Error bad_key(std::string_view key, std::string_view what, std::string remedy) {
  return Error(ErrorCode::kUsage, fmt::format("data.{} {}", key, what)).with_remedy(std::move(remedy));
}

bool asks_for_split(const DataConfig& config) {
  return config.split != "auto" || config.test_share.has_value();
}

Result<TestSplit> split_of(const DataConfig& config, std::uint64_t seed) {
  constexpr double kUsualShare = 0.1;
  const std::map<std::string, SplitKind> kinds{{"auto", SplitKind::kRandom},
                                               {"random", SplitKind::kRandom},
                                               {"stratified", SplitKind::kStratified},
                                               {"end", SplitKind::kEnd}};
  const auto kind = kinds.find(config.split);
  if (kind == kinds.end()) {
    return bad_key("split", fmt::format("'{}' is unknown", config.split),
                   "Take auto, random, stratified or end.");
  }
  const double share = config.test_share.value_or(kUsualShare);
  if (!(share >= 0 && share < 1)) {
    return bad_key("test_share", fmt::format("is {}", share), "Give a share of at least 0 and below 1.");
  }
  return TestSplit{.kind = kind->second, .share = share, .seed = seed};
}

namespace {

using Opener = std::function<Result<OpenedData>(FileSystem&, const DataConfig&, std::uint64_t)>;

Opener of_files(Opener open) {
  return [open = std::move(open)](FileSystem& fs, const DataConfig& config,
                                  std::uint64_t seed) -> Result<OpenedData> {
    if (config.path.empty()) {
      return bad_key("path", fmt::format("is missing; data of kind '{}' comes from files", config.kind),
                     "Name the file or folder.");
    }
    return open(fs, config, seed);
  };
}

Opener of_generator(Result<OpenedData> (*open)(const DataConfig&, std::uint64_t)) {
  return [open](FileSystem&, const DataConfig& config, std::uint64_t seed) -> Result<OpenedData> {
    if (config.samples < 1 || config.test_samples < 0) {
      return bad_key("samples",
                     fmt::format("is {} and data.test_samples {}", config.samples, config.test_samples),
                     "Give at least one sample to train on, and no negative number to test on.");
    }
    if (!(config.noise >= 0)) return bad_key("noise", fmt::format("is {}", config.noise), "Give 0 or more.");
    return open(config, seed);
  };
}

std::map<std::string, Opener> openers() {
  return {
      {"idx", of_files(open_idx)},
      {"cifar", of_files(open_cifar)},
      {"csv", of_files(open_csv)},
      {"text", of_files(open_text)},
      {"digits", of_generator(open_digits)},
      {"spirals", of_generator(open_spirals)},
      {"regression", of_generator(open_regression)},
      {"markov", of_generator(open_markov)},
  };
}

}  // namespace
}  // namespace data

Result<OpenedData> open_data(FileSystem& fs, const DataConfig& config, std::uint64_t seed) {
  const auto openers = data::openers();
  const auto opener = openers.find(config.kind);
  if (opener == openers.end()) {
    std::string kinds;
    for (const auto& [kind, open] : openers) kinds += (kinds.empty() ? "" : ", ") + kind;
    return data::bad_key("kind", fmt::format("'{}' is unknown", config.kind),
                         fmt::format("Take one of {}.", kinds));
  }
  COHORT_ASSIGN_OR_RETURN(OpenedData opened, opener->second(fs, config, seed));
  if (opened.test != nullptr && opened.test->size() == 0) opened.test = nullptr;
  return opened;
}

}  // namespace cohort
