#pragma once

#include "net/job_key.h"
#include "net/stream.h"

#include <memory>

namespace cohort::net {

/// Which end of a connection this is.
enum class End { kListener, kConnector };

/// A connected socket, encrypted: TLS 1.3 with a secret that both sides have, so that both know the other
/// to be of the same job, and fresh keys for each connection, so that who learns the job's key later reads
/// nothing of what was said. There are no certificates.
///
/// Threads: one at a time.
/// Lifetime: the socket is its owner's, and must outlive this.
/// Failure: kPermission if the other side does not have the key.
/// Cost: a payload passes through one record of 16 KiB at a time; what is shorter shares one.
class TlsStream final : public Stream {
 public:
  static Result<std::unique_ptr<TlsStream>> make(int socket, End end, const Secret& secret);
  ~TlsStream() override;

  Result<std::size_t> read(std::span<const iovec> parts) override;
  Result<std::size_t> write(std::span<const iovec> parts) override;
  Result<bool> prepare() override;

 private:
  struct Session;
  explicit TlsStream(std::unique_ptr<Session> session);

  void count_record();
  Result<std::size_t> outcome(int result, std::size_t done, const char* what);

  std::unique_ptr<Session> session_;
  bool is_prepared_ = false;
  std::size_t num_pending_ = 0;    // bytes of the record that was taken half-way
  std::uint64_t num_records_ = 0;  // since keys were changed
};

}  // namespace cohort::net
