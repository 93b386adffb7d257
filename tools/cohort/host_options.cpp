#include "host_options.h"

#include "net/job_key.h"
#include "net/own_addresses.h"

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>

namespace cohort::tool {
namespace {

struct StartWay {
  const char* name;
  std::vector<std::string> words;
};

// Each command starts one program on one host and forwards its standard streams.
const std::array<StartWay, 3>& start_ways() {
  static const std::array<StartWay, 3> ways = {{
      {"ssh", {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "{host}"}},
      {"mpirun", {"mpirun", "-np", "1", "-host", "{host}"}},
      {"srun", {"srun", "--overlap", "--nodes=1", "--ntasks=1", "--nodelist={host}"}},
  }};
  return ways;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char letter : text + " ") {
    if (letter != ' ') {
      word += letter;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

// The rendezvous for ranks: all addresses under which this host may be reachable.
std::string rendezvous_text(const std::vector<net::SocketAddress>& addresses) {
  std::string text = "tcp:";
  for (const net::SocketAddress& address : addresses) {
    text += fmt::format("{}{}", text.size() > 4 ? "," : "", address.text());
  }
  return text;
}

}  // namespace

void HostOptions::add_to(CLI::App& app) {
  app.add_option("--hosts", hosts_, "Run on these hosts: a:4,b:4 means four ranks on each")
      ->type_name("HOST[:RANKS],...");
  app.add_option("--start", start_,
                 "How to start a program on a host: ssh, mpirun, srun, or a command like ssh with "
                 "{host} for the name of the host")
      ->type_name("WAY")
      ->capture_default_str();
  app.add_option("--remote-cohort", agent_, "The path of this tool on the hosts; by default its path here")
      ->type_name("PATH");
  app.add_option(
         "--env", variables_,
         "An environment variable for ranks on other hosts: NAME copies its value here, or NAME=VALUE")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  app.add_option("--interface", interfaces_, "A network interface for connections between hosts")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app.add_flag("--no-encryption", is_clear_,
               "Do not encrypt connections between hosts: others on the network can read them");
}

Result<int> HostOptions::ranks() const {
  COHORT_ASSIGN_OR_RETURN(const auto hosts, supervise::parse_hosts(*hosts_));
  return supervise::num_ranks(hosts);
}

Result<std::vector<int>> HostOptions::host_ranks() const {
  COHORT_ASSIGN_OR_RETURN(const auto hosts, supervise::parse_hosts(*hosts_));
  std::vector<int> ranks;
  for (const auto& host : hosts) ranks.push_back(host.ranks);
  return ranks;
}

Result<std::vector<std::string>> HostOptions::start_words() const {
  for (const StartWay& way : start_ways()) {
    if (start_ == way.name) return way.words;
  }
  const std::vector<std::string> words = split(start_);
  const bool names_host = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find("{host}") != std::string::npos;
  });
  if (names_host) return words;
  return Error(ErrorCode::kUsage, fmt::format("--start '{}' does not contain {{host}}", start_))
      .with_remedy("Give ssh, mpirun or srun, or a command that contains {host}.");
}

Result<EnvironmentVariables> HostOptions::environment(const Session& session) const {
  EnvironmentVariables given;
  for (const std::string& text : variables_) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto own = session.environment.find(name);
    if (equals != std::string::npos) {
      given[name] = text.substr(equals + 1);
    } else if (own != session.environment.end()) {
      given[name] = own->second;
    } else {
      return Error(ErrorCode::kUsage, fmt::format("--env {}: the variable is not set here", name))
          .with_remedy("Give its value: --env NAME=VALUE.");
    }
  }
  if (is_clear_) given["COHORT_ENCRYPTION"] = "off";
  if (!interfaces_.empty()) given["COHORT_INTERFACES"] = fmt::format("{}", fmt::join(interfaces_, ","));
  return given;
}

Result<HostedJob> HostOptions::plan(const Session& session, const JobPlan& job) const {
  COHORT_ASSIGN_OR_RETURN(const net::JobKey key, net::JobKey::make());
  HostedJob hosted{.key = key};
  COHORT_ASSIGN_OR_RETURN(hosted.plan.hosts, supervise::parse_hosts(*hosts_));
  COHORT_ASSIGN_OR_RETURN(hosted.plan.start, start_words());
  hosted.plan.agent = {agent_.value_or(session.program), "agent"};
  hosted.plan.limit = job.limit;
  supervise::AgentPlan& common = hosted.plan.common;
  common.argv = job.argv;
  common.directory = std::filesystem::current_path().string();
  common.world = supervise::num_ranks(hosted.plan.hosts);
  common.roles = job.roles;
  common.rank_loss = job.rank_loss;
  if (common.roles.servers + common.roles.spares >= common.world) {
    return Error(ErrorCode::kUsage,
                 fmt::format("{} servers and {} spares leave no worker of the {} ranks on --hosts {}",
                             common.roles.servers, common.roles.spares, common.world, *hosts_))
        .with_remedy("Give the hosts more ranks: --hosts counts workers, servers and spares.");
  }
  common.is_pinned = !job.pinned_cores.empty();
  common.grace = job.grace;
  COHORT_ASSIGN_OR_RETURN(common.environment, environment(session));
  for (const auto& [name, value] : job.settings) common.environment[name] = value;
  common.key = key.text();

  COHORT_ASSIGN_OR_RETURN(const auto own, net::own_addresses());
  COHORT_ASSIGN_OR_RETURN(auto addresses, net::published_addresses(own, interfaces_));
  COHORT_ASSIGN_OR_RETURN(hosted.listener, net::listen_for(addresses));
  COHORT_ASSIGN_OR_RETURN(const net::SocketAddress bound, net::local_address(hosted.listener));
  for (net::SocketAddress& address : addresses) address = address.with_port(bound.port());
  common.rendezvous = rendezvous_text(addresses);
  if (is_clear_) {
    std::cerr << "cohort: warning: connections between hosts are not encrypted (--no-encryption)\n";
  }
  return hosted;
}

}  // namespace cohort::tool
