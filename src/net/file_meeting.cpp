#include "net/file_meeting.h"

#include "comm/group/rank_text.h"
#include "storage/whole_file.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <thread>

namespace cohort::net {
namespace {

constexpr std::chrono::milliseconds kFirstLook{1};
constexpr std::chrono::milliseconds kLongestLook{50};
constexpr const char* kPurpose = "card";

std::string signed_name(const Round& round, int rank) {
  return fmt::format("{}/{}/{}/", round.name, rank, round.world);
}

std::vector<std::byte> signed_text(const Round& round, int rank, const std::string& card) {
  const std::string text = signed_name(round, rank) + card;
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

FileMeeting::FileMeeting(const JobKey& key, FileSystem& files, std::string directory)
    : key_(key), files_(files), directory_(std::move(directory)) {}

FileMeeting::~FileMeeting() {
  for (const std::string& path : left_) (void)files_.remove(path);
  for (const std::string& path : postings_) (void)files_.remove(path);
}

std::string FileMeeting::path_of(const std::string& round, int rank) const {
  return fmt::format("{}/cohort-{:016x}-{}-{}", directory_, key_.job(), round, rank);
}

Status FileMeeting::write_card(const Round& round, const std::string& card) {
  const std::vector<std::byte> text = signed_text(round, round.rank, card);
  const Mac mac = key_.sign(kPurpose, text);
  std::vector<std::byte> bytes(mac.begin(), mac.end());
  const auto card_bytes = std::as_bytes(std::span(card));
  bytes.insert(bytes.end(), card_bytes.begin(), card_bytes.end());
  COHORT_RETURN_IF_ERROR(
      files_.make_directories(directory_)
          .within(fmt::format("cannot make the directory '{}' of the meeting", directory_)));
  return write_file_atomically(files_, path_of(round.name, round.rank), bytes)
      .within(fmt::format("member {} cannot write its card", round.member(round.rank)));
}

Result<std::vector<Posting>> FileMeeting::post(const Round& board, const std::string& card) {
  COHORT_RETURN_IF_ERROR(write_card(board, card));
  postings_.insert(path_of(board.name, board.rank));
  std::vector<Posting> postings(static_cast<std::size_t>(board.world));
  for (int rank = 0; rank < board.world; ++rank) {
    std::string text;
    if (read_card(board, rank, text)) postings[static_cast<std::size_t>(rank)].card = text;
  }
  return postings;
}

Result<std::vector<std::string>> FileMeeting::gather(const Round& round, const std::string& card) {
  COHORT_RETURN_IF_ERROR(write_card(round, card));
  left_.push_back(path_of(round.name, round.rank));

  std::vector<std::string> cards(static_cast<std::size_t>(round.world));
  std::vector<int> missing;
  for (int rank = 0; rank < round.world; ++rank) missing.push_back(rank);
  auto pause = kFirstLook;
  while (true) {
    std::erase_if(missing,
                  [&](int rank) { return read_card(round, rank, cards[static_cast<std::size_t>(rank)]); });
    if (missing.empty()) break;
    if (std::chrono::steady_clock::now() >= round.deadline) {
      for (int& rank : missing) rank = round.member(rank);
      return Error(ErrorCode::kTimedOut, fmt::format("{} not come to the meeting '{}' in '{}'",
                                                     comm::members_have(missing), round.name, directory_))
          .with_remedy("Check that those members were started, still run, and see that directory.");
    }
    if (const auto error = round.hopeless ? round.hopeless() : std::nullopt) return *error;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestLook);
  }
  remove_old();
  return cards;
}

// All ranks have written a card for this round, so all have finished reading the cards of earlier rounds.
void FileMeeting::remove_old() {
  while (left_.size() > 1) {
    (void)files_.remove(left_.front());
    left_.erase(left_.begin());
  }
}

bool FileMeeting::read_card(const Round& round, int rank, std::string& into) {
  const auto content = read_file(files_, path_of(round.name, rank), kCardCap + sizeof(Mac));
  if (!content || content->size() < sizeof(Mac)) return false;
  Mac mac;
  std::memcpy(mac.data(), content->data(), mac.size());
  const std::string card = content->substr(mac.size());
  if (!key_.verify(kPurpose, signed_text(round, rank, card), mac)) return false;
  into = card;
  return true;
}

}  // namespace cohort::net
