#pragma once

#include "checkpoint/json_fields.h"
#include "checkpoint/optimizer_group.h"

#include <string_view>
#include <vector>

namespace cohort::checkpoint {

OrderedJson encode_groups(const std::vector<OptimizerGroup>& groups);
/// The groups in this member; none if there is no such member.
std::vector<OptimizerGroup> decode_groups(JsonFields& fields, std::string_view name);

}  // namespace cohort::checkpoint
