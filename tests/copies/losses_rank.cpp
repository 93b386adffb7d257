// One member of a job that keeps copies of a state and loses members at random moments; those that are left
// restore the state from the copies and go on. Usage: losses_rank MODE SEED LEFT.
//
//   kill     a member kills itself in each generation, until LEFT members are left: at any time, soon after
//            keep() began, or at a certain page of its copy
//   freeze   a member stops itself instead
//   host     all members of the last host kill themselves, at about the same moment

#include "comm/group/communicator.h"
#include "copies/neighbour_copies.h"
#include "layout/slice.h"
#include "state/move.h"

#include <algorithm>
#include <cohort/context.h>
#include <csignal>
#include <fmt/format.h>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace std::chrono_literals;
using cohort::Context;
using cohort::Error;
using cohort::ErrorCode;
using cohort::Piece;

constexpr std::size_t kAlike = 100'003, kSliced = 500'009, kMerged = 10'007;
constexpr std::int64_t kVersionsOfGeneration = 1'000'000;
constexpr int kLastVersions = 5;
constexpr std::chrono::microseconds kLongest = 40ms, kLongestKeep = 3ms;

[[noreturn]] void fail(const std::string& text) {
  throw Error(ErrorCode::kBug, text);
}

std::uint64_t draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  std::seed_seq words{seed, a, b};
  return std::mt19937_64(words)();
}

// The state, as one rank of a generation holds it. An element says which one it is, and of which version.
class State {
 public:
  State(std::uint64_t seed, int rank, int world, std::uint32_t generation) : rank_(rank) {
    std::vector<std::size_t> cuts = {0, kSliced};
    for (int i = 1; i < world; ++i)
      cuts.push_back(draw(seed, generation, static_cast<std::uint64_t>(i)) % kSliced);
    std::sort(cuts.begin(), cuts.end());
    const auto index = static_cast<std::size_t>(rank);
    add("alike", cohort::whole({kAlike}), {kAlike}, cohort::Merge::kSame);
    add("sliced", cohort::flat_range({kSliced}, cuts[index], cuts[index + 1] - cuts[index]), {kSliced},
        cohort::Merge::kSame);
    add("merged", cohort::whole({kMerged}), {kMerged}, cohort::Merge::kMax);
    add("position", cohort::whole({}), {}, cohort::Merge::kSame);
  }

  std::span<const Piece> pieces() const { return pieces_; }

  void become(std::int64_t version) {
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      for (std::size_t i = 0; i < numbers_[p].size(); ++i) numbers_[p][i] = expected(p, i, version, rank_);
    }
  }
  // A page of the own slice; nothing if the slice is shorter.
  std::span<std::byte> page(std::uint64_t which) const {
    constexpr std::size_t kPage = 4096;
    const std::span<std::byte> bytes = pieces_[1].bytes;
    const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(bytes.data()) % kPage) % kPage;
    if (bytes.size() < before + kPage) return {};
    return bytes.subspan(before + which % ((bytes.size() - before) / kPage) * kPage, kPage);
  }
  void check(std::int64_t version, int world_that_kept) const {
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      for (std::size_t i = 0; i < numbers_[p].size(); ++i) {
        const double wanted = expected(p, i, version, world_that_kept - 1);
        if (numbers_[p][i] == wanted) continue;
        fail(fmt::format("element {} of '{}' is {} instead of {} (version {})", i, pieces_[p].name,
                         numbers_[p][i], wanted, version));
      }
    }
  }

 private:
  void add(const char* name, const cohort::Slice& mine, const cohort::Shape& shape, cohort::Merge merge) {
    numbers_.emplace_back(mine.count);
    pieces_.push_back(
        {.name = name, .dtype = cohort::DType::kF64, .shape = shape, .mine = mine, .merge = merge});
    pieces_.back().bytes = std::as_writable_bytes(std::span(numbers_.back()));
  }
  double expected(std::size_t piece, std::size_t i, std::int64_t version, int rank) const {
    const double of_rank = pieces_[piece].merge == cohort::Merge::kSame ? 0 : rank / 64.0;
    return static_cast<double>(version) * 1048576 + static_cast<double>(pieces_[piece].mine.first + i) +
           of_rank;
  }

  int rank_;
  std::vector<std::vector<double>> numbers_;
  std::vector<Piece> pieces_;
};

class Trainer {
 public:
  Trainer(Context& context, std::string mode, std::uint64_t seed, int num_left)
      : context_(context),
        mode_(std::move(mode)),
        seed_(seed),
        num_left_(num_left),
        copies_(context.arena()) {}

  void run() {
    while (true) {
      try {
        enter_generation();
        if (is_last_generation()) break;
        train_until_it_fails();
      } catch (const Error& error) {
        if (error.code() == ErrorCode::kBug || error.code() == ErrorCode::kNotFound) throw;
        form_of_survivors();
      }
    }
    train(kLastVersions);
    context_.barrier();
    std::cout << fmt::format("rank {} of {} restored {} times, {} times an interrupted version was left out",
                             context_.rank(), context_.size(), num_restored_, num_left_out_)
              << std::endl;
  }

 private:
  bool is_last_generation() const {
    return context_.size() <= num_left_ || (mode_ == "host" && num_hosts() == 1);
  }
  int num_hosts() const {
    int last = 0;
    for (const cohort::Member& member : context_.members()) last = std::max(last, member.host);
    return last + 1;
  }

  void enter_generation() {
    worlds_[context_.generation()] = context_.size();
    version_ = context_.generation() * kVersionsOfGeneration;
    before_ = 0;
    if (context_.generation() > 0 && !is_last_generation()) choose_the_lost();
    value_or_throw(copies_.join(context_.communicator()));
    state_.emplace(seed_, context_.rank(), context_.size(), context_.generation());
    if (context_.generation() > 0) return restore();
    train(2);
    value_or_throw(copies_.settle());
    certain_ = version_;
    choose_the_lost();
  }

  // A version that keep() has returned from is complete inside each host; the one before it, on all hosts.
  // The version that is restored may be complete only as long as no other host is lost.
  void restore() {
    const auto kept = value_or_throw(copies_.last());
    if (kept.version < certain_ || kept.version > attempted_) {
      fail(fmt::format("version {} was restored, expected {} … {}", kept.version, certain_, attempted_));
    }
    value_or_throw(cohort::state::move(state_->pieces(), *kept.source));
    state_->check(kept.version, worlds_.at(static_cast<std::uint32_t>(kept.version / kVersionsOfGeneration)));
    ++num_restored_;
    if (kept.version < attempted_) ++num_left_out_;
    attempted_ = kept.version;
    if (num_hosts() == 1) certain_ = kept.version;
  }

  void train(int num_versions) {
    for (int i = 0; i < num_versions; ++i) {
      state_->become(++version_);
      attempted_ = version_;
      value_or_throw(context_.communicator().run(cohort::barrier()));  // as at the end of a step
      if (dies_at_ && num_kept_++ == *dies_at_) die_in_keep();
      value_or_throw(copies_.keep(version_, state_->pieces()));
      certain_ = num_hosts() == 1 ? version_ : std::max(certain_, before_);
      before_ = version_;
    }
  }
  void train_until_it_fails() {
    for (int i = 0; i < 100'000; ++i) train(1);
    fail("no member was lost");
  }

  // As in a failed generation, forming one may fail, too.
  void form_of_survivors() {
    while (true) {
      try {
        context_.form(context_.survivors());
        return;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kPeerLost && error.code() != ErrorCode::kAborted) throw;
      }
    }
  }

  // A third of the members that are lost end at any time after the generation began, the others in keep().
  void choose_the_lost() {
    dies_at_.reset();
    const auto size = static_cast<std::uint64_t>(context_.size());
    const bool is_chosen = mode_ == "host" ? own_host() == num_hosts() - 1
                                           : number(1) % size == static_cast<std::uint64_t>(context_.rank());
    if (!is_chosen) return;
    if (number(2) % 3 == 0) return die_within(kLongest);
    dies_at_ = number(3) % 5;
    num_kept_ = 0;
  }
  void die_in_keep() {
    const std::span<std::byte> page = state_->page(number(4));
    if (number(2) % 3 == 1 || page.empty()) return die_within(kLongestKeep);
    static const int signal = signal_of_end();
    ::signal(SIGSEGV, [](int) { ::kill(::getpid(), signal); });
    ::mprotect(page.data(), page.size(), PROT_NONE);
  }
  int signal_of_end() const { return mode_ == "freeze" ? SIGSTOP : SIGKILL; }
  void die_within(std::chrono::microseconds longest) {
    const std::chrono::microseconds delay(number(100 + context_.id()) %
                                          static_cast<std::uint64_t>(longest.count()));
    std::thread([delay, signal = signal_of_end()] {
      std::this_thread::sleep_for(delay);
      ::kill(::getpid(), signal);
    }).detach();
  }
  // The same on all members of this generation.
  std::uint64_t number(std::uint64_t which) const { return draw(seed_, context_.generation(), 1000 + which); }
  int own_host() const { return context_.members()[static_cast<std::size_t>(context_.rank())].host; }

  Context& context_;
  const std::string mode_;
  const std::uint64_t seed_;
  const int num_left_;
  cohort::NeighbourCopies copies_;
  std::optional<State> state_;
  std::map<std::uint32_t, int> worlds_;  // by generation
  std::int64_t version_ = 0;
  std::int64_t before_ = 0;               // the last version of this generation that keep() returned from
  std::int64_t certain_ = 0;              // complete everywhere
  std::int64_t attempted_ = 0;            // begun
  std::optional<std::uint64_t> dies_at_;  // how many versions it keeps before
  std::uint64_t num_kept_ = 0;
  int num_restored_ = 0;
  int num_left_out_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) return 2;
  const std::string mode = argv[1];
  Context context({.limit = 20s,
                   .liveness = mode == "freeze" ? 500ms : 10s,
                   .link_limit = 3s,
                   .meeting_limit = 20s,
                   .arena_bytes = std::size_t{256} << 20});
  Trainer(context, mode, std::stoull(argv[2]), std::stoi(argv[3])).run();
  return 0;
} catch (const cohort::Error& error) {
  std::cout << "failed: " << name(error.code()) << ": " << error.text() << std::endl;
  return 3;
}
