#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace cohort::comm {

/// Memory that calls work in. Later calls get what earlier ones gave back: fresh memory costs a fault for
/// every page of it.
///
/// Threads: every method from any thread.
/// Lifetime: what was taken keeps the pool.
/// Cost: keeps up to kKeptBytes that nobody uses. What is taken holds whatever was there.
class ScratchPool : public std::enable_shared_from_this<ScratchPool> {
 public:
  static constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

  /// A piece of it, given back with its death.
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
    std::size_t size_ = 0;  // as it was asked for
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
