#pragma once

#include "net/dialler.h"
#include "net/in_stream.h"
#include "net/low_water.h"
#include "net/out_stream.h"
#include "net/station.h"
#include "net/stream.h"
#include "net/tls_stream.h"

#include <memory>
#include <optional>

namespace cohort::net {

/// Facts about the peer that the handshake of a new connection has established.
struct Counterpart {
  std::uint64_t session = 0;
  std::uint64_t num_taken = 0;  ///< bytes of our stream that the peer has received
  Secret secret{};              ///< TLS pre-shared key of this connection
};

class Link;

/// An ordered stream of messages in each direction between two members. When the connection breaks, the rail
/// makes a new one and both streams resume at the byte that the receiver needs next.
///
/// Threads: methods marked "lock held" need the station's lock and may be called from any thread; the others
/// belong to the thread that advances and must be called without the lock.
/// Lifetime: station and link must outlive the rail.
/// Failure: end() tells why the peer counts as lost: it left, its process is gone, it did not reconnect in
/// time, or it sent corrupt data.
class Rail final {
 public:
  Rail(Station& station, int other, std::uint16_t number, Link& link);

  /// Lock held.
  OutStream& out() { return out_; }

  /// Connects, reads and writes without blocking. True if anything happened.
  bool advance();
  TimePoint wanted_at() const;
  const std::optional<Error>& end() const { return end_; }
  /// The header of the next message has come, and the link does not admit the message yet.
  bool is_held() const { return in_.is_held(); }
  bool is_connected() const { return connection_ && connection_->is_prepared; }
  /// The peer's kernel has everything that was sent.
  bool is_through() const;
  /// Tells the peer that nothing follows, if the connection takes the bytes at once. Lock held.
  void say_farewell();
  void hang_up();

  /// Drops the current connection in favour of a new one that the peer asks for. Returns the byte at which
  /// the peer's stream resumes; empty if the peer is lost, or another session than before.
  std::optional<std::uint64_t> next_from(std::uint64_t session);
  void attach(std::unique_ptr<Connection> connection, End end, const Counterpart& counterpart);

  // The MessageSink of the rail's InStream.
  Result<bool> admit(const comm::FrameHeader& header);
  std::span<std::byte> buffer_for(const comm::FrameHeader& header);
  void arrived(const comm::FrameHeader& header);
  void withdrawn(const comm::FrameHeader& header);

 private:
  bool reconnect();
  bool is_too_late();
  bool prepare();
  bool read();
  bool is_due() const;
  bool write();
  void broke(const Error& why);
  Error in_rail(const Error& why) const;
  void lose(const Error& why);
  void acknowledge();
  void acknowledge_long(const comm::FrameHeader& header);

  Station& station_;
  const int other_;
  const std::uint16_t number_;
  Link& link_;
  OutStream out_;
  InStream in_;
  Dialler dialler_;
  std::unique_ptr<Connection> connection_;
  std::optional<PacedSocket> paced_;  // the connection's socket
  std::optional<LowWater> low_water_;
  TimePoint come_until_;
  TimePoint prepare_until_{};
  bool has_met_ = false;            // a handshake has succeeded
  bool has_talked_ = false;         // a connection was ready for messages
  std::uint64_t num_told_ = 0;      // bytes acknowledged to the peer
  std::uint64_t num_at_break_ = 0;  // bytes received when the last connection broke
  std::optional<Error> last_failure_;
  std::optional<Error> end_;
};

}  // namespace cohort::net
