#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace cohort::comm {

/// Scratch memory of calls. Later calls reuse the memory of earlier ones: fresh memory costs a page fault for
/// every page. The content of a Scratch is unspecified.
///
/// Threads: every method from any thread.
/// Lifetime: a Scratch keeps the pool alive.
/// Cost: keeps up to kKeptBytes of unused memory.
class ScratchPool : public std::enable_shared_from_this<ScratchPool> {
 public:
  static constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

  /// A piece of memory; the destructor returns it to the pool.
  class Scratch {
   public:
    Scratch() = default;
    Scratch(Scratch&&) noexcept = default;
    Scratch& operator=(Scratch&& other) noexcept;
    ~Scratch();

    std::byte* data() const { return bytes_.get(); }
    bool empty() const { return size_ == 0; }

   private:
    friend class ScratchPool;
    std::shared_ptr<ScratchPool> pool_;
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;  // as requested
    std::size_t capacity_ = 0;
  };

  Scratch take(std::size_t size_bytes);
  std::size_t num_kept_bytes() const;

 private:
  struct Piece {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t capacity = 0;
  };

  void give_back(Piece piece);

  mutable std::mutex mutex_;
  std::vector<Piece> kept_;
  std::size_t num_kept_bytes_ = 0;
};

}  // namespace cohort::comm
