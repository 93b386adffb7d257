#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace cohort {

/// The newest entries of a log of unbounded length: a ring buffer that overwrites the oldest entry when it is
/// full.
///
/// Threads: one at a time.
/// Cost: memory for `capacity` entries, which grows up to that size; adding is one assignment.
template <class Entry>
class RingLog {
 public:
  explicit RingLog(std::size_t capacity) : capacity_(capacity) {}

  void add(Entry entry) {
    if (entries_.size() < capacity_) {
      entries_.push_back(std::move(entry));
    } else if (capacity_ > 0) {
      entries_[next_] = std::move(entry);
      next_ = (next_ + 1) % capacity_;
    }
    ++num_added_;
  }

  /// From the oldest to the newest.
  std::vector<Entry> entries() const {
    std::vector<Entry> all(entries_.begin() + static_cast<std::ptrdiff_t>(next_), entries_.end());
    all.insert(all.end(), entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(next_));
    return all;
  }
  /// The number of entries that were overwritten.
  std::size_t num_lost() const { return num_added_ - entries_.size(); }

 private:
  const std::size_t capacity_;
  std::vector<Entry> entries_;
  std::size_t next_ = 0;  // the oldest entry, once the ring is full
  std::size_t num_added_ = 0;
};

}  // namespace cohort
