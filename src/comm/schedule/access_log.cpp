#include "comm/schedule/access_log.h"

#include <algorithm>
#include <iterator>

namespace cohort::comm {

void AccessLog::split_at(std::ptrdiff_t place) {
  auto next = cells_.upper_bound(place);
  if (next == cells_.begin()) return;
  const auto cell = std::prev(next);
  if (cell->first == place || cell->second.end <= place) return;
  Cell right = cell->second;
  cell->second.end = place;
  cells_.emplace_hint(next, place, std::move(right));
}

template <class Visit>
void AccessLog::for_cells(std::ptrdiff_t first, std::ptrdiff_t end, Visit visit) {
  split_at(first);
  split_at(end);
  auto cell = cells_.lower_bound(first);
  for (std::ptrdiff_t place = first; place < end; place = cell->second.end, ++cell) {
    if (cell == cells_.end() || cell->first > place) {
      const std::ptrdiff_t gap_end = cell == cells_.end() ? end : std::min(end, cell->first);
      cell = cells_.emplace_hint(cell, place, Cell{.end = gap_end});
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
    // Readers came after the writer: waiting for them is waiting for it.
    if (cell.readers.empty() && cell.writer) after.push_back(*cell.writer);
    after.insert(after.end(), cell.readers.begin(), cell.readers.end());
    cell.readers.clear();
    cell.writer = step;
  });
}

}  // namespace cohort::comm
