#include "checkpoint/made_snapshot.h"

#include "comm/conformance/shared_memory_kind.h"
#include "layout/slice.h"

namespace cohort::test {
namespace {

// The part of a tensor that a rank of several holds: as many elements as the others, or one more.
Piece part_of_rank(MadeTensor& tensor, int rank, int ranks) {
  const std::size_t count = num_elements(tensor.shape), n = static_cast<std::size_t>(ranks);
  const auto place = static_cast<std::size_t>(rank);
  const std::size_t first = tensor.is_shared ? count * place / n : 0;
  const std::size_t last = tensor.is_shared ? count * (place + 1) / n : count;
  const std::size_t size = size_bytes(tensor.dtype);
  return {.name = tensor.name,
          .dtype = tensor.dtype,
          .shape = tensor.shape,
          .mine = flat_range(tensor.shape, first, last - first),
          .bytes = std::span(tensor.bytes).subspan(first * size, (last - first) * size)};
}

}  // namespace

Status make_snapshot(FileSystem& files, const std::string& folder, int ranks,
                     const std::vector<MadeTensor>& tensors, std::int64_t step) {
  const WorldOutcome outcome =
      shared_memory_kind("shared_memory", InArena::kNobodys)
          .run(ranks,
               [&](Seat& seat) -> Status {
                 COHORT_ASSIGN_OR_RETURN(
                     const auto saver,
                     checkpoint::Saver::make(*seat, files,
                                             {.folder = folder, .writing = checkpoint::Writing::kAtOnce}));
                 std::vector<MadeTensor> copies = tensors;
                 std::vector<Piece> pieces;
                 for (MadeTensor& each : copies) {
                   pieces.push_back(part_of_rank(each, seat.index(), ranks));
                 }
                 COHORT_RETURN_IF_ERROR(saver->save(pieces, {.position = {.step = step}}));
                 COHORT_RETURN_IF_ERROR(saver->finish());
                 for (const auto& report : saver->take_reports()) {
                   COHORT_RETURN_IF_ERROR(report.status);
                 }
                 return {};
               },
               {});
  if (outcome.ok()) return {};
  return Error(ErrorCode::kBug, outcome.text());
}

}  // namespace cohort::test
