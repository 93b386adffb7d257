#pragma once

#include "net/connection.h"
#include "net/dialler.h"
#include "net/in_stream.h"
#include "net/lane_owner.h"
#include "net/low_water.h"
#include "net/out_stream.h"
#include "net/station.h"
#include "net/tls_stream.h"

#include <memory>
#include <optional>

namespace cohort::net {

/// What the other side of a new connection has said of itself.
struct Counterpart {
  std::uint64_t session = 0;
  std::uint64_t num_taken = 0;  ///< bytes of our stream that it has
  Secret secret{};              ///< that this connection is encrypted with
};

/// A stream of messages in each direction between two members, over one connection after the other: when one
/// breaks, the next goes on at the byte where it was.
///
/// Threads: methods that say so with the station's lock held, from any thread; the others from the one that
/// advances, without it.
/// Lifetime: station and owner must outlive it.
/// Failure: end() says why the other member counts as lost: it left, its process is gone, it did not come
/// back within the limit, or what it sends makes no sense.
class Lane final : MessageSink {
 public:
  Lane(Station& station, int other, std::uint16_t number, LaneOwner& owner);

  /// With the lock held.
  OutStream& out() { return out_; }

  /// Connects, reads and writes as far as it can be done now.
  bool advance();
  TimePoint wanted_at() const;
  const std::optional<Error>& end() const { return end_; }
  bool has_met() const { return has_met_; }
  /// A message has come as far as its header, and waits to be admitted.
  bool is_held() const { return in_.is_held(); }
  bool is_connected() const { return connection_ && connection_->is_prepared; }
  /// The other side has everything that was sent to it.
  bool is_through() const;
  /// Says that nothing more follows, as far as the connection takes it now. With the lock held.
  void say_farewell();
  void hang_up();

  /// Whether a connection of this session can be the next one, and from which byte on it is to go.
  std::optional<std::uint64_t> next_from(std::uint64_t session);
  void attach(std::unique_ptr<Connection> connection, End end, const Counterpart& counterpart);

 private:
  Result<bool> admit(const comm::FrameHeader& header) override;
  std::span<std::byte> place(const comm::FrameHeader& header) override;
  void arrived(const comm::FrameHeader& header) override;
  void taken_back(const comm::FrameHeader& header) override;

  bool reconnect();
  bool is_too_late();
  bool prepare();
  bool read();
  bool is_due() const;
  bool write();
  void broke(const Error& why);
  void lose(const Error& why);
  void add_receipt();
  void acknowledge(const comm::FrameHeader& header);

  Station& station_;
  const int other_;
  const std::uint16_t number_;
  LaneOwner& owner_;
  OutStream out_;
  InStream in_;
  Dialler dialler_;
  std::unique_ptr<Connection> connection_;
  std::optional<PacedSocket> paced_;  // of the connection
  std::optional<LowWater> low_water_;
  TimePoint come_until_;
  TimePoint prepare_until_{};
  bool has_met_ = false;
  bool has_talked_ = false;         // a connection was good for messages
  std::uint64_t num_told_ = 0;      // bytes that the other knows to be here
  std::uint64_t num_at_break_ = 0;  // bytes that were here when the last connection broke
  std::optional<Error> last_failure_;
  std::optional<Error> end_;
};

}  // namespace cohort::net
