#pragma once

#include "net/job_key.h"
#include "net/stream.h"

#include <memory>

namespace cohort::net {

/// The two ends of a connection: TLS server and TLS client.
enum class End { kListener, kConnector };

/// An encrypted Stream over a connected socket: TLS 1.3 with a pre-shared key, which proves to each side that
/// the peer belongs to the job, and an ephemeral key exchange: recorded traffic stays secret even if the
/// job's key leaks later. No certificates.
///
/// Threads: one at a time.
/// Lifetime: does not own the socket, which must outlive the stream.
/// Failure: kPermission if the peer does not have the key.
/// Cost: bytes are sent in records of 16 KiB; short parts are gathered into one record.
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
  std::size_t num_pending_ = 0;    // size of the record that OpenSSL has written half-way
  std::uint64_t num_records_ = 0;  // records since the last key update
};

}  // namespace cohort::net
