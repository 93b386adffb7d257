#include "supervise/agent.h"

#include "base/descriptor.h"
#include "base/system_error.h"
#include "launch/variable_reader.h"
#include "supervise/agent_wire.h"
#include "supervise/cores.h"
#include "supervise/supervisor.h"
#include "supervise/writer.h"

#include <array>
#include <cohort/version.h>
#include <csignal>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace cohort::supervise {
namespace {

using namespace std::chrono_literals;

/// The agent's output, to the launcher.
///
/// Threads: every method from any thread.
class Channel {
 public:
  explicit Channel(int output) : output_(output) {}

  Status send(AgentFrame kind, std::span<const std::byte> content) {
    return send_text(framed(kind, content));
  }
  Status send_text(const std::string& text) {
    const std::lock_guard lock(mutex_);
    for (std::size_t put = 0; put < text.size();) {
      const ssize_t some =
          uninterrupted([&] { return ::write(output_, text.data() + put, text.size() - put); });
      if (some < 0) {
        return Error(ErrorCode::kAborted, system_error("cannot write to the launcher", errno).text());
      }
      put += static_cast<std::size_t>(some);
    }
    return {};
  }

 private:
  const int output_;
  std::mutex mutex_;
};

/// Sends the output of ranks to the launcher.
class ChannelOutput final : public RankOutput {
 public:
  ChannelOutput(Channel& channel, int first_rank) : channel_(channel), first_rank_(first_rank) {}

  Status take(int rank, Stream stream, std::string_view piece) override {
    const OutputPiece output{first_rank_ + rank, stream, std::string(piece)};
    return channel_.send(AgentFrame::kOutput, output.encode());
  }
  Status finish(int rank) override {
    return channel_.send(AgentFrame::kFinished, encode_number(first_rank_ + rank));
  }
  void give_up() override {}

 private:
  Channel& channel_;
  const int first_rank_;
};

/// The next frame; empty if the launcher has closed the agent's input.
Result<std::optional<FrameCutter::Frame>> read_frame(int input, FrameCutter& cutter) {
  while (true) {
    COHORT_ASSIGN_OR_RETURN(auto frame, cutter.next());
    if (frame) return frame;
    std::array<char, 65536> piece{};
    const ssize_t got = uninterrupted([&] { return ::read(input, piece.data(), piece.size()); });
    if (got <= 0) return std::optional<FrameCutter::Frame>();
    cutter.add({piece.data(), static_cast<std::size_t>(got)});
  }
}

// An anonymous file: ranks can read the key several times, and no other user can.
Result<Descriptor> key_file(const std::string& key) {
  Descriptor file(::memfd_create("cohort-key", MFD_CLOEXEC));
  if (!file.is_open()) return system_error("cannot pass the key of the job on to its ranks", errno);
  if (::write(file.number(), key.data(), key.size()) != static_cast<ssize_t>(key.size())) {
    return system_error("cannot pass the key of the job on to its ranks", errno);
  }
  return file;
}

Result<JobPlan> job_plan(const AgentPlan& plan, int key) {
  JobPlan job{.argv = plan.argv,
              .ranks = plan.ranks,
              .first_rank = plan.first_rank,
              .world = plan.world,
              .roles = plan.roles,
              .rank_loss = plan.rank_loss,
              .environment = own_environment(),
              .rendezvous = plan.rendezvous,
              .key = key,
              .grace = plan.grace};
  for (const auto& [name, value] : plan.environment) job.environment[name] = value;
  COHORT_ASSIGN_OR_RETURN(const std::vector<int> cores, allowed_cores());
  const int share = threads_of_rank(static_cast<int>(cores.size()), plan.ranks);
  for (const auto& [name, value] : thread_variables(job.environment, std::nullopt, share)) {
    job.environment[name] = value;
  }
  if (plan.is_pinned) job.pinned_cores = cores;
  return job;
}

/// Forwards the launcher's signals to the supervisor while ranks run, and ends the job when the launcher goes
/// away.
class Listener {
 public:
  Listener(int input, FrameCutter cutter, Supervisor& supervisor)
      : input_(input),
        stop_(::eventfd(0, EFD_CLOEXEC)),
        cutter_(std::move(cutter)),
        supervisor_(supervisor),
        thread_([this] { listen(); }) {}
  ~Listener() { ::eventfd_write(stop_.number(), 1); }

 private:
  // Ends when the launcher goes away or the destructor writes to stop_.
  void listen() {
    while (true) {
      // A frame may have arrived together with the plan.
      auto frame = cutter_.next();
      if (frame && !*frame) {
        std::array<pollfd, 2> sources{{{stop_.number(), POLLIN, 0}, {input_, POLLIN, 0}}};
        if (::poll(sources.data(), sources.size(), -1) < 0) continue;
        if (sources[0].revents != 0) return;
        frame = read_frame(input_, cutter_);
      }
      const bool is_gone = !frame || !*frame;
      const auto signal = is_gone ? Result<int>(SIGTERM) : decode_number((*frame)->content);
      supervisor_.interrupt(signal ? *signal : SIGTERM);
      if (is_gone) return;
    }
  }

  const int input_;
  const Descriptor stop_;
  FrameCutter cutter_;
  Supervisor& supervisor_;
  std::jthread thread_;
};

Result<JobOutcome> run(const AgentPlan& plan, int input, FrameCutter cutter, Channel& channel) {
  if (::chdir(plan.directory.c_str()) != 0) {
    return system_error(fmt::format("cannot change to the directory '{}'", plan.directory), errno);
  }
  COHORT_ASSIGN_OR_RETURN(const Descriptor key, key_file(plan.key));
  COHORT_ASSIGN_OR_RETURN(JobPlan job, job_plan(plan, key.number()));
  ChannelOutput output(channel, plan.first_rank);
  Supervisor supervisor(std::move(job), output);
  const Listener listener(input, std::move(cutter), supervisor);
  return supervisor.run();
}

}  // namespace

Status run_agent(int input, int output) {
  std::signal(SIGPIPE, SIG_IGN);
  Channel channel(output);
  COHORT_RETURN_IF_ERROR(channel.send_text(agent_greeting(version())));
  FrameCutter cutter;
  COHORT_ASSIGN_OR_RETURN(const auto frame, read_frame(input, cutter));
  if (!frame) return {};
  if (frame->kind != AgentFrame::kPlan) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("corrupt message from the launcher: the first frame has kind {}, expected {} (plan)",
                    static_cast<int>(frame->kind), static_cast<int>(AgentFrame::kPlan)));
  }
  COHORT_ASSIGN_OR_RETURN(const AgentPlan plan, AgentPlan::decode(frame->content));
  const auto outcome = run(plan, input, std::move(cutter), channel);
  if (!outcome) return channel.send(AgentFrame::kFailure, encode_error(outcome.error()));
  return channel.send(AgentFrame::kOutcome, encode_outcome(*outcome));
}

}  // namespace cohort::supervise
