#include "comm/shared_memory/meeting.h"

#include "comm/shared_memory/control_packets.h"
#include "comm/shared_memory/packet_socket.h"
#include "world/world.h"

#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace cohort::test {
namespace {

using comm::Hello;
using comm::MeetingOptions;
using comm::Packet;
using namespace std::chrono_literals;

std::string fresh_name() {
  static std::atomic<int> number{0};
  return fmt::format("cohort-meeting-{}-{}", ::getpid(), number.fetch_add(1));
}

TimePoint in(std::chrono::nanoseconds time) {
  return std::chrono::steady_clock::now() + time;
}

TEST(PacketSocket, APacketThatIsTooLongGivesItsLength) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  const Descriptor sender(ends[0]), receiver(ends[1]);
  const std::vector<std::byte> bytes(100);
  ASSERT_TRUE(comm::send_packet(sender, bytes, Descriptor()));
  const auto packet = comm::receive_packet(receiver, 64, in(10s));
  ASSERT_FALSE(packet);
  EXPECT_EQ(packet.error().text(), "corrupt packet on a unix socket: length 100, expected at most 64");
  ASSERT_TRUE(comm::send_packet(sender, std::span(bytes).first(64), Descriptor()));
  EXPECT_EQ(value_or_throw(comm::receive_packet(receiver, 64, in(10s)))->bytes.size(), 64u);
}

std::unique_ptr<Arena> make_arena() {
  return value_or_throw(Arena::create(1 << 20));
}

MeetingOptions options_of(const std::string& name, int rank, int world) {
  return {.name = name, .facts = {.rank = rank, .world = world}, .deadline = in(15s)};
}

Status meet_in_order(RankContext& rank, const std::string& name) {
  const auto arena = make_arena();
  arena->data()[4096] = static_cast<std::byte>(rank.rank() + 1);
  COHORT_ASSIGN_OR_RETURN(const auto found, comm::meet(options_of(name, rank.rank(), rank.size()), *arena));
  for (int other = 0; other < rank.size(); ++other) {
    const auto& neighbour = found[static_cast<std::size_t>(other)];
    if (neighbour.has_value() == (other == rank.rank())) return rank.failure("rank {} is missing", other);
    if (neighbour && neighbour->arena.data()[4096] != static_cast<std::byte>(other + 1))
      return rank.failure("the arena of rank {} belongs to another rank", other);
  }
  return rank.barrier();
}

/// Connects to the socket of a rank as soon as the rank listens.
Descriptor connect_to(const std::string& name) {
  const TimePoint deadline = in(15s);
  while (std::chrono::steady_clock::now() < deadline) {
    auto socket = value_or_throw(comm::try_connect(name));
    if (socket) return *std::move(socket);
    std::this_thread::sleep_for(1ms);
  }
  throw std::runtime_error("no process listens at " + name);
}

TEST(Meeting, EverybodyGetsTheArenasOfAllOthers) {
  for (const int world : {1, 2, 3, 5, 8}) {
    const std::string name = fresh_name();
    EXPECT_WORLD_OK(run_world(world, [&](RankContext& rank) { return meet_in_order(rank, name); }));
  }
}

/// Ranks 0 and 1 must connect although another process connects to the socket of rank 0 first.
void expect_no_disturbance(const std::function<void(const std::string& door)>& stranger) {
  const std::string name = fresh_name();
  bool stranger_came = false;
  const auto outcome = run_world(3, [&](RankContext& rank) -> Status {
    if (rank.rank() == 2) {
      stranger(name + ".0.0");
      rank.change([&] { stranger_came = true; });
      return {};
    }
    const auto arena = make_arena();
    if (rank.rank() == 1) COHORT_RETURN_IF_ERROR(rank.wait_for([&] { return stranger_came; }));
    COHORT_ASSIGN_OR_RETURN(const auto found, comm::meet(options_of(name, rank.rank(), 2), *arena));
    return {};
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Meeting, StrangersDoNotDisturb) {
  const auto arena = make_arena();
  const auto say = [](const std::string& door, std::span<const std::byte> bytes, const Descriptor& file) {
    const Descriptor socket = connect_to(door);
    (void)comm::send_packet(socket, bytes, file);
  };
  Hello hello{.rank = 1, .world = 2, .arena_bytes = arena->capacity_bytes()};
  const std::vector<std::byte> rubbish(77, std::byte{0x5a});
  const std::vector<std::byte> flood(60'000, std::byte{1});
  const Descriptor loose(::memfd_create("loose", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(loose.number(), static_cast<off_t>(arena->capacity_bytes())), 0);
  SCOPED_TRACE("closes at once");
  expect_no_disturbance([](const std::string& door) { const Descriptor closed = connect_to(door); });
  SCOPED_TRACE("sends rubbish");
  expect_no_disturbance([&](const std::string& door) { say(door, rubbish, Descriptor()); });
  SCOPED_TRACE("sends too much");
  expect_no_disturbance([&](const std::string& door) { say(door, flood, Descriptor()); });
  SCOPED_TRACE("brings no arena");
  expect_no_disturbance([&](const std::string& door) { say(door, hello.encode(), Descriptor()); });
  SCOPED_TRACE("brings one that can shrink");
  expect_no_disturbance([&](const std::string& door) { say(door, hello.encode(), loose); });
  SCOPED_TRACE("is of another generation");
  hello.generation = 9;
  expect_no_disturbance([&](const std::string& door) { say(door, hello.encode(), arena->file()); });
  SCOPED_TRACE("lies about its size");
  hello.generation = 0;
  hello.arena_bytes *= 2;
  expect_no_disturbance([&](const std::string& door) { say(door, hello.encode(), arena->file()); });
  SCOPED_TRACE("has a rank that does not exist");
  hello.arena_bytes /= 2;
  hello.rank = 2;
  expect_no_disturbance([&](const std::string& door) { say(door, hello.encode(), arena->file()); });
}

TEST(Meeting, AStrangerThatSaysNothingIsForgottenAfterAWhile) {
  Descriptor silent;
  expect_no_disturbance([&](const std::string& door) { silent = connect_to(door); });
}

TEST(Meeting, AnotherSizeOfTheWorldIsAMistake) {
  const std::string name = fresh_name();
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    const auto arena = make_arena();
    const auto found = comm::meet(options_of(name, rank.rank(), 2 + rank.rank()), *arena);
    if (found) return rank.failure("the ranks connected");
    if (found.error().code() != ErrorCode::kUsage || found.error().remedy().empty())
      return rank.failure("expected kUsage with a remedy, found: {}", found.error().text());
    return rank.barrier();
  });
  EXPECT_WORLD_OK(outcome);
}

TEST(Meeting, RanksThatDoNotConnectAreNamed) {
  const std::string name = fresh_name();
  EXPECT_WORLD_OK(run_world(2, [&](RankContext& rank) -> Status {
    const auto arena = make_arena();
    MeetingOptions options = options_of(name, rank.rank() * 2, 4);
    options.deadline = in(200ms);
    options.facts.global_ranks = {10, 11, 12, 13};  // the ranks of another host come before these
    const auto found = comm::meet(options, *arena);
    if (found) return rank.failure("the ranks connected");
    const std::string text = found.error().text();
    // Ranks 0 and 2 connect to each other; ranks 1 and 3 were never started.
    const bool named = text.find("ranks 11 and 13 have") != std::string::npos;
    if (found.error().rank() != 11) return rank.failure("blames rank {}", found.error().rank().value_or(-1));
    if (found.error().code() != ErrorCode::kTimedOut || !named || found.error().remedy().empty())
      return rank.failure("{}", text);
    return rank.barrier();
  }));
}

TEST(Meeting, TwoWithTheSameRankAreNoticed) {
  const std::string name = fresh_name();
  const Descriptor first = value_or_throw(comm::listen_at(name + ".0.0"));
  const auto arena = make_arena();
  const auto found = comm::meet(options_of(name, 0, 2), *arena);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::kAlreadyExists) << found.error().text();
  EXPECT_FALSE(found.error().remedy().empty());
}

TEST(Meeting, ANameThatTheKernelCannotHoldIsAMistake) {
  const auto arena = make_arena();
  const auto found = comm::meet(options_of(std::string(200, 'n'), 0, 2), *arena);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::kUsage);
}

TEST(PacketSocket, CarriesPacketsAndDescriptors) {
  const std::string name = fresh_name();
  EXPECT_FALSE(value_or_throw(comm::try_connect(name))) << "no process listens yet";
  const Descriptor listener = value_or_throw(comm::listen_at(name));
  const auto client = value_or_throw(comm::try_connect(name));
  ASSERT_TRUE(client);
  const Descriptor server = value_or_throw(comm::accept_by(listener, in(5s)));
  const auto peer = value_or_throw(comm::credentials_of(server));
  EXPECT_EQ(peer.process, ::getpid());
  EXPECT_EQ(peer.user, ::geteuid());

  const auto arena = make_arena();
  const std::vector<std::byte> bytes(100, std::byte{7});
  ASSERT_TRUE(comm::send_packet(*client, bytes, arena->file()));
  ASSERT_TRUE(comm::send_packet(*client, std::span(bytes).first(3), Descriptor()));
  const auto first = value_or_throw(comm::receive_packet(server, 100, in(5s)));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->bytes, bytes);
  EXPECT_TRUE(first->descriptor.is_open());
  EXPECT_NE(::fcntl(first->descriptor.number(), F_GETFD) & FD_CLOEXEC, 0);
  const auto second = value_or_throw(comm::receive_packet(server, 100, in(5s)));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->bytes.size(), 3U);
  EXPECT_FALSE(second->descriptor.is_open());

  const auto nothing = comm::receive_packet(server, 100, in(1ms));
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code(), ErrorCode::kTimedOut);
  ASSERT_TRUE(comm::send_packet(*client, bytes, Descriptor()));
  const auto too_long = comm::receive_packet(server, 99, in(5s));
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code(), ErrorCode::kCorrupt);
}

TEST(PacketSocket, TellsWhenTheOtherEndIsGone) {
  const std::string name = fresh_name();
  const Descriptor listener = value_or_throw(comm::listen_at(name));
  auto client = value_or_throw(comm::try_connect(name));
  const Descriptor server = value_or_throw(comm::accept_by(listener, in(5s)));
  client.reset();
  EXPECT_FALSE(value_or_throw(comm::receive_packet(server, 100, in(5s))));
  EXPECT_FALSE(comm::send_packet(server, std::vector<std::byte>(3), Descriptor()))
      << "and SIGPIPE does not end the process";
  const auto nobody = comm::accept_by(listener, in(1ms));
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code(), ErrorCode::kTimedOut);
}

int num_descriptors() {
  int count = 0;
  for (int number = 0; number < 1024; ++number) count += ::fcntl(number, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

// A peer sends more descriptors than the receiver has space for.
TEST(PacketSocket, UnexpectedDescriptorsAreClosed) {
  const std::string name = fresh_name();
  const Descriptor listener = value_or_throw(comm::listen_at(name));
  const auto client = value_or_throw(comm::try_connect(name));
  const Descriptor server = value_or_throw(comm::accept_by(listener, in(5s)));
  const int before = num_descriptors();
  const int numbers[3] = {listener.number(), listener.number(), listener.number()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof numbers)] = {};
  char byte = 1;
  iovec piece{.iov_base = &byte, .iov_len = 1};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof numbers);
  std::memcpy(CMSG_DATA(header), numbers, sizeof numbers);
  ASSERT_EQ(::sendmsg(client->number(), &message, 0), 1);
  (void)comm::receive_packet(server, 100, in(5s));
  EXPECT_EQ(num_descriptors(), before);
}

}  // namespace
}  // namespace cohort::test
