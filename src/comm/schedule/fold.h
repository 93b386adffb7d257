#pragma once

#include "comm/schedule/schedule_builder.h"
#include "comm/schedule/team.h"

#include <cstddef>

namespace cohort::comm {

/// How many arriving inputs a fold has scratch memory for at a time.
enum class FoldRoom { kTwo, kAll };

/// Receives `own.count` elements from every other member, in chunks, and combines them with `own` in the
/// order of positions, from the left: `own` = ((x[0] ∘ x[1]) ∘ …) ∘ x[n−1].
void fold_in_order(ScheduleBuilder& builder, const Team& team, Region own, FoldRoom room,
                   std::size_t chunk_length);
/// Elements of scratch that fold_in_order() takes on member `me` of `size` for `count` elements.
std::size_t fold_scratch(int me, int size, std::size_t count, FoldRoom room);

}  // namespace cohort::comm
