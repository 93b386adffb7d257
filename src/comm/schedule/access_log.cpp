#include "comm/schedule/access_log.h"

#include <algorithm>
#include <iterator>

namespace cohort::comm {

void AccessLog::split_at(std::ptrdiff_t position) {
  auto next = cells_.upper_bound(position);
  if (next == cells_.begin()) return;
  const auto cell = std::prev(next);
  if (cell->first == position || cell->second.end <= position) return;
  Cell right = cell->second;
  cell->second.end = position;
  cells_.emplace_hint(next, position, std::move(right));
}

template <class Visit>
void AccessLog::for_cells(std::ptrdiff_t first, std::ptrdiff_t end, Visit visit) {
  split_at(first);
  split_at(end);
  auto cell = cells_.lower_bound(first);
  for (std::ptrdiff_t position = first; position < end; position = cell->second.end, ++cell) {
    if (cell == cells_.end() || cell->first > position) {
      const std::ptrdiff_t gap_end = cell == cells_.end() ? end : std::min(end, cell->first);
      cell = cells_.emplace_hint(cell, position, Cell{.end = gap_end});
    }
    visit(cell->second);
  }
}

void AccessLog::read(std::ptrdiff_t first, std::ptrdiff_t end, int step, std::vector<int>& after) {
  for_cells(first, end, [&](Cell& cell) {
    if (cell.writer) after.push_back(*cell.writer);
    cell.readers.push_back(step);
  });
}

void AccessLog::write(std::ptrdiff_t first, std::ptrdiff_t end, int step, std::vector<int>& after) {
  for_cells(first, end, [&](Cell& cell) {
    // The readers already wait for the writer, so waiting for them is enough.
    if (cell.readers.empty() && cell.writer) after.push_back(*cell.writer);
    after.insert(after.end(), cell.readers.begin(), cell.readers.end());
    cell.readers.clear();
    cell.writer = step;
  });
}

}  // namespace cohort::comm
