#include "checkpoint/snapshot_difference.h"

#include "checkpoint/snapshot_facts.h"

#include <map>
#include <set>

namespace cohort::tool {
namespace {

using checkpoint::Manifest;
using checkpoint::SnapshotTensors;
using checkpoint::WholeTensor;

std::map<std::string, std::string> facts_by_name(const Manifest& manifest) {
  const auto facts = facts_of(manifest);
  std::map<std::string, std::string> by_name(facts.begin(), facts.end());
  by_name["job file"] = manifest.course.config;
  return by_name;
}

std::vector<OtherValue> other_facts(const Manifest& a, const Manifest& b) {
  std::map<std::string, std::string> in_a = facts_by_name(a), in_b = facts_by_name(b);
  std::set<std::string> names;
  for (const auto& facts : {in_a, in_b}) {
    for (const auto& [name, value] : facts) names.insert(name);
  }
  std::vector<OtherValue> others;
  for (const std::string& name : names) {
    if (in_a[name] != in_b[name]) others.push_back({name, in_a[name], in_b[name]});
  }
  return others;
}

}  // namespace

Result<SnapshotDifference> difference_of(const SnapshotTensors& a, const SnapshotTensors& b,
                                         const checkpoint::BytesRead& report) {
  SnapshotDifference result{.facts = other_facts(a.snapshot().manifest(), b.snapshot().manifest())};
  for (const WholeTensor& in_b : b.all()) {
    if (a.find(in_b.name) == nullptr) result.only_in_b.push_back(in_b.name);
  }
  for (const WholeTensor& in_a : a.all()) {
    const WholeTensor* const in_b = b.find(in_a.name);
    if (in_b == nullptr) {
      result.only_in_a.push_back(in_a.name);
      continue;
    }
    const std::string type_a = type_text(in_a.dtype, in_a.shape),
                      type_b = type_text(in_b->dtype, in_b->shape);
    if (type_a != type_b) {
      result.types.push_back({in_a.name, type_a, type_b});
      continue;
    }
    COHORT_ASSIGN_OR_RETURN(const auto difference, checkpoint::compare(a, in_a, b, *in_b, report));
    if (difference.num_different > 0) {
      result.tensors.push_back({in_a.name, difference});
    } else {
      ++result.num_same;
    }
  }
  return result;
}

}  // namespace cohort::tool
