#include "launch/environment.h"

#include "launch/variables.h"
#include "supervise/rank_variables.h"

#include <gtest/gtest.h>
#include <set>

namespace cohort::test {
namespace {

constexpr uid_t kUser = 1000;

LaunchFacts facts_of(const EnvironmentVariables& environment) {
  return value_or_throw(launch_facts(environment, kUser));
}

// The text of the error, or a description of the facts if there is no error.
std::string mistake_in(const EnvironmentVariables& environment) {
  const auto facts = launch_facts(environment, kUser);
  if (facts) return "rank " + std::to_string(facts->rank) + " by " + std::string(name(facts->launcher));
  EXPECT_EQ(facts.error().code(), ErrorCode::kUsage);
  EXPECT_FALSE(facts.error().remedy().empty()) << facts.error().text();
  return facts.error().text();
}

EnvironmentVariables with(EnvironmentVariables variables, const EnvironmentVariables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

const EnvironmentVariables kCohort{{"COHORT_RANK", "2"},       {"COHORT_WORLD", "5"},
                                   {"COHORT_LOCAL_RANK", "1"}, {"COHORT_LOCAL_WORLD", "3"},
                                   {"COHORT_GENERATION", "4"}, {"COHORT_RENDEZVOUS", "unix:cohort-abc"}};
const EnvironmentVariables kTorchrun{{"RANK", "3"},
                                     {"WORLD_SIZE", "4"},
                                     {"LOCAL_RANK", "1"},
                                     {"LOCAL_WORLD_SIZE", "2"},
                                     {"MASTER_ADDR", "node7"},
                                     {"MASTER_PORT", "29500"},
                                     {"TORCHELASTIC_RUN_ID", "none"},
                                     {"TORCHELASTIC_RESTART_COUNT", "2"}};
const EnvironmentVariables kOpenMpi{{"OMPI_COMM_WORLD_RANK", "6"},
                                    {"OMPI_COMM_WORLD_SIZE", "7"},
                                    {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                                    {"OMPI_MCA_ess_base_jobid", "3541630977"},
                                    {"PMIX_NAMESPACE", "3541630977"}};
const EnvironmentVariables kHydra{
    {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
const EnvironmentVariables kSlurm{{"SLURM_PROCID", "6"},         {"SLURM_NTASKS", "7"},
                                  {"SLURM_STEP_NUM_TASKS", "7"}, {"SLURM_LOCALID", "0"},
                                  {"SLURM_NODEID", "3"},         {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
                                  {"SLURM_JOB_ID", "812"},       {"SLURM_STEP_ID", "0"}};
// The variables of a batch script, which is not a rank.
const EnvironmentVariables kBatch{
    {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "7"}, {"SLURM_LOCALID", "0"}, {"SLURM_JOB_ID", "812"}};

TEST(LaunchFacts, NothingSetIsAWorldOfOne) {
  EXPECT_EQ(facts_of({}), LaunchFacts{});
  EXPECT_EQ(facts_of({{"PATH", "/bin"}, {"SLURM_JOB_ID", "3"}, {"RANK", "stray"}}), LaunchFacts{});
  EXPECT_EQ(facts_of({{"MASTER_ADDR", ""}, {"MASTER_PORT", "x"}}), LaunchFacts{}) << "nobody to meet";
}

TEST(LaunchFacts, OfCohortRun) {
  EXPECT_EQ(facts_of(kCohort), (LaunchFacts{.launcher = Launcher::kCohort,
                                            .rank = 2,
                                            .world = 5,
                                            .local_rank = 1,
                                            .local_size = 3,
                                            .generation = 4,
                                            .rendezvous = {.unix_name = "cohort-abc"}}));
}

TEST(LaunchFacts, WorkersComeFirstThenServersThenSpares) {
  const RoleFacts roles{.servers = 2, .spares = 1};
  std::string letters;
  for (int rank = 0; rank < 5; ++rank) {
    const EnvironmentVariables variables = supervise::rank_variables(
        {.rank = rank, .world = 5, .roles = roles, .rendezvous = *supervise::fresh_rendezvous()});
    EXPECT_EQ(facts_of(variables).roles, roles);
    letters += variables.at("COHORT_ROLE")[1];
  }
  EXPECT_EQ(letters, "ooeep");  // worker, worker, server, server, spare
  // Other launchers know no roles.
  EXPECT_EQ(facts_of(with(kTorchrun, {{"COHORT_SPARES", "1"}})).roles, RoleFacts{});
}

TEST(LaunchFacts, AreThoseThatRankVariablesWrites) {
  for (const int world : {1, 2, 5}) {
    for (int rank = 0; rank < world; ++rank) {
      const auto facts = facts_of(supervise::rank_variables({.rank = rank,
                                                             .world = world,
                                                             .local_rank = rank,
                                                             .local_size = world,
                                                             .generation = 3,
                                                             .rendezvous = *supervise::fresh_rendezvous()}));
      EXPECT_EQ(facts.rank, rank);
      EXPECT_EQ(facts.world, world);
      EXPECT_EQ(facts.local_rank, rank);
      EXPECT_EQ(facts.local_size, world);
      EXPECT_EQ(facts.generation, 3);
      EXPECT_EQ(facts.rendezvous.unix_name->size(), std::string("cohort-").size() + 32);
    }
  }
}

TEST(LaunchFacts, OfTorchrun) {
  EXPECT_EQ(facts_of(kTorchrun),
            (LaunchFacts{.launcher = Launcher::kTorchrun,
                         .rank = 3,
                         .world = 4,
                         .local_rank = 1,
                         .local_size = 2,
                         .generation = 2,
                         .rendezvous = {.unix_name = "cohort-1000-torchrun-none-29500-2",
                                        .address = Rendezvous::Address{"node7", 29500}}}));
}

TEST(LaunchFacts, OfOpenMpi) {
  EXPECT_EQ(facts_of(kOpenMpi), (LaunchFacts{.launcher = Launcher::kOpenMpi,
                                             .rank = 6,
                                             .world = 7,
                                             .local_rank = 0,
                                             .local_size = 1,
                                             .rendezvous = {.unix_name = "cohort-1000-openmpi-3541630977"}}));
}

TEST(LaunchFacts, OfHydra) {
  EXPECT_EQ(
      facts_of(kHydra),
      (LaunchFacts{.launcher = Launcher::kHydra, .rank = 1, .world = 2, .local_rank = 1, .local_size = 2}));
}

TEST(LaunchFacts, OfSlurm) {
  EXPECT_EQ(facts_of(kSlurm), (LaunchFacts{.launcher = Launcher::kSlurm,
                                           .rank = 6,
                                           .world = 7,
                                           .local_rank = 0,
                                           .local_size = 1,
                                           .rendezvous = {.unix_name = "cohort-1000-slurm-812-0"}}));
  EXPECT_EQ(facts_of(with(kSlurm, {{"SLURM_PROCID", "5"}, {"SLURM_LOCALID", "1"}, {"SLURM_NODEID", "2"}}))
                .local_size,
            2);
  const EnvironmentVariables old{{"SLURM_PROCID", "1"},
                                 {"SLURM_NTASKS", "4"},
                                 {"SLURM_LOCALID", "1"},
                                 {"SLURM_NTASKS_PER_NODE", "2"},
                                 {"SLURM_STEP_ID", "11"}};
  EXPECT_EQ(facts_of(old).local_size, 2);
  EXPECT_EQ(facts_of(old).world, 4);
}

TEST(LaunchFacts, LimitsCountWithEveryLauncherAndWithoutOne) {
  using namespace std::chrono_literals;
  for (const EnvironmentVariables& launcher : {EnvironmentVariables{}, kOpenMpi, kSlurm}) {
    const LaunchFacts facts =
        facts_of(with(launcher, {{"COHORT_LIMIT", "90s"}, {"COHORT_LIVENESS", "2 min"}}));
    EXPECT_EQ(facts.limits, (LimitFacts{.call = 90s, .liveness = 2min}));
  }
  EXPECT_EQ(facts_of({{"COHORT_LIVENESS", ""}}).limits, LimitFacts{});
  for (const std::string wrong : {"soon", "5", "9ms", "2h"}) {
    const auto facts = launch_facts({{"COHORT_LIVENESS", wrong}}, 1000);
    ASSERT_FALSE(facts) << wrong;
    EXPECT_EQ(facts.error().message(),
              "the environment has COHORT_LIVENESS='" + wrong + "', expected a duration from 10 ms to 1 h");
  }
}

TEST(LaunchFacts, LimitsSurviveTheEnvironment) {
  using namespace std::chrono_literals;
  const LimitFacts limits{.call = 1500ms, .liveness = 90s};
  EXPECT_EQ(facts_of(launch::limit_variables(limits)).limits, limits);
  EXPECT_TRUE(launch::limit_variables({}).empty());
}

TEST(LaunchFacts, VariablesThatNothingReadsAreNamed) {
  EXPECT_EQ(launch::unknown_variables({{"COHORT_RANK", "1"}, {"COHORT_LIVELINESS", "1s"}, {"PATH", ""}}),
            std::vector<std::string>{"COHORT_LIVELINESS"});
}

TEST(LaunchFacts, ABatchScriptIsNoRank) {
  EXPECT_EQ(facts_of(kBatch), LaunchFacts{});
  EXPECT_EQ(facts_of(with(kBatch, {{"SLURM_STEP_ID", "4294967291"}})), LaunchFacts{})
      << "the step of the script";
  EXPECT_EQ(facts_of(with(kBatch, {{"SLURM_STEP_ID", "4294967290"}})), LaunchFacts{})
      << "an interactive shell";
}

TEST(LaunchFacts, TheInnerLauncherWins) {
  const auto launcher = [](const EnvironmentVariables& outer, const EnvironmentVariables& inner) {
    return facts_of(with(outer, inner)).launcher;
  };
  EXPECT_EQ(launcher(kBatch, kOpenMpi), Launcher::kOpenMpi);
  EXPECT_EQ(launcher(kSlurm, kOpenMpi), Launcher::kOpenMpi);
  EXPECT_EQ(launcher(kSlurm, kHydra), Launcher::kHydra);
  EXPECT_EQ(launcher(kSlurm, kTorchrun), Launcher::kTorchrun);
  EXPECT_EQ(launcher(kTorchrun, kCohort), Launcher::kCohort);
  EXPECT_EQ(launcher(kSlurm, {{"PMI_RANK", "6"}, {"PMI_SIZE", "7"}}), Launcher::kSlurm)
      << "srun sets these too";
  EXPECT_EQ(launcher({}, {{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), Launcher::kPmi);
}

TEST(LaunchFacts, MistakesNameTheVariableAndItsValue) {
  using Words = std::vector<std::string>;
  const std::vector<std::pair<EnvironmentVariables, Words>> cases{
      {with(kCohort, {{"COHORT_RANK", "5"}}), {"COHORT_RANK=5", "COHORT_WORLD=5"}},
      {with(kCohort, {{"COHORT_RANK", ""}}), {"COHORT_RANK=''"}},
      {with(kCohort, {{"COHORT_RANK", "-1"}}), {"COHORT_RANK='-1'"}},
      {with(kCohort, {{"COHORT_RANK", "1x"}}), {"COHORT_RANK='1x'"}},
      {with(kCohort, {{"COHORT_RANK", " 1"}}), {"COHORT_RANK=' 1'"}},
      {with(kCohort, {{"COHORT_WORLD", "0"}}), {"COHORT_WORLD='0'"}},
      {with(kCohort, {{"COHORT_WORLD", "99999999999"}}), {"COHORT_WORLD='99999999999'"}},
      {with(kCohort, {{"COHORT_LOCAL_RANK", "3"}}), {"COHORT_LOCAL_RANK=3", "COHORT_LOCAL_WORLD=3"}},
      {with(kCohort, {{"COHORT_LOCAL_WORLD", "6"}}), {"COHORT_LOCAL_WORLD=6", "COHORT_WORLD=5"}},
      {with(kCohort, {{"COHORT_GENERATION", "new"}}), {"COHORT_GENERATION='new'"}},
      {with(kCohort, {{"COHORT_SERVERS", "x"}}), {"COHORT_SERVERS='x'"}},
      {with(kCohort, {{"COHORT_SERVERS", "3"}, {"COHORT_SPARES", "2"}}),
       {"COHORT_SERVERS=3 and COHORT_SPARES=2", "no worker of COHORT_WORLD=5"}},
      {with(kCohort, {{"COHORT_SPARES", "2147483647"}}), {"COHORT_SPARES=2147483647"}},
      {with(kCohort, {{"COHORT_ROLE", "spare"}}), {"COHORT_ROLE='spare'", "is a worker"}},
      {with(kCohort, {{"COHORT_RENDEZVOUS", "unix:"}}), {"COHORT_RENDEZVOUS='unix:'"}},
      {with(kCohort, {{"COHORT_RENDEZVOUS", "/tmp/x"}}), {"COHORT_RENDEZVOUS='/tmp/x'"}},
      {with(kCohort, {{"COHORT_RENDEZVOUS", "unix:" + std::string(81, 'x')}}),
       {"COHORT_RENDEZVOUS='unix:xx"}},
      {{{"COHORT_RANK", "0"}}, {"COHORT_WORLD is missing"}},
      {{{"COHORT_WORLD", "1"}}, {"COHORT_RANK is missing"}},
      {{{"COHORT_RANK", "0"}, {"COHORT_WORLD", "2"}}, {"COHORT_LOCAL_RANK is missing"}},
      {with(kTorchrun, {{"MASTER_PORT", "65536"}}), {"MASTER_PORT=65536"}},
      {with(kTorchrun, {{"MASTER_PORT", "0"}}), {"MASTER_PORT='0'"}},
      {with(kTorchrun, {{"MASTER_ADDR", ""}}), {"MASTER_ADDR=''"}},
      {with(kOpenMpi, {{"OMPI_COMM_WORLD_SIZE", "six"}}), {"OMPI_COMM_WORLD_SIZE='six'"}},
      {with(kSlurm, {{"SLURM_STEP_ID", "batch"}}), {"SLURM_STEP_ID='batch'"}},
      {with(kSlurm, {{"SLURM_NODEID", "4"}}), {"SLURM_NODEID=4"}},
      {with(kSlurm, {{"SLURM_STEP_TASKS_PER_NODE", "2(x"}}), {"SLURM_STEP_TASKS_PER_NODE='2(x'"}},
      {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, {"PMI_SIZE=2"}},
      {{{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}, {"PMI_RANK=2", "PMI_SIZE=2"}},
  };
  for (const auto& [environment, words] : cases) {
    const std::string text = mistake_in(environment);
    for (const std::string& word : words)
      EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
  }
}

TEST(LaunchFacts, DerivedNamesTellJobsApart) {
  std::set<std::string> names;
  const auto name_of = [](const EnvironmentVariables& environment, uid_t user) {
    return launch_facts(environment, user)->rendezvous.unix_name.value();
  };
  const std::vector<EnvironmentVariables> jobs{
      kSlurm,
      with(kSlurm, {{"SLURM_STEP_ID", "1"}}),
      with(kSlurm, {{"SLURM_JOB_ID", "813"}}),
      kOpenMpi,
      with(kOpenMpi, {{"OMPI_MCA_ess_base_jobid", "1"}}),
      kTorchrun,
      with(kTorchrun, {{"MASTER_PORT", "29501"}}),
      with(kTorchrun, {{"TORCHELASTIC_RESTART_COUNT", "3"}}),
      with(kTorchrun, {{"TORCHELASTIC_RUN_ID", "a/b"}}),
      with(kTorchrun, {{"TORCHELASTIC_RUN_ID", "a_b"}}),
      with(kTorchrun, {{"TORCHELASTIC_RUN_ID", std::string(500, 'x')}}),
      with(kTorchrun, {{"TORCHELASTIC_RUN_ID", std::string(501, 'x')}}),
  };
  for (const auto& job : jobs) {
    for (const uid_t user : {0u, 1000u}) {
      const std::string name = name_of(job, user);
      EXPECT_LE(name.size(), 80u) << name;
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  }
  EXPECT_EQ(name_of(with(kSlurm, {{"SLURM_PROCID", "0"}, {"SLURM_NODEID", "0"}}), kUser),
            name_of(kSlurm, kUser))
      << "the same for every rank";
}

TEST(LaunchFacts, AGivenRendezvousWinsOverADerivedOne) {
  EXPECT_EQ(facts_of(with(kHydra, {{"COHORT_RENDEZVOUS", "unix:ours"}})).rendezvous.unix_name, "ours");
  EXPECT_EQ(facts_of(with(kSlurm, {{"COHORT_RENDEZVOUS", "unix:ours"}})).rendezvous.unix_name, "ours");
}

TEST(LaunchFacts, OtherRendezvous) {
  const auto parsed = [](const std::string& text) {
    return facts_of(with(kTorchrun, {{"COHORT_RENDEZVOUS", text}})).rendezvous;
  };
  using Address = Rendezvous::Address;
  EXPECT_EQ(parsed("file:/shared/x:y"), (Rendezvous{.directory = "/shared/x:y"}));
  EXPECT_EQ(parsed("rank0:node7:4711"), (Rendezvous{.address = Address{"node7", 4711}}));
  EXPECT_EQ(parsed("tcp:10.0.0.1:4711,[fe80::7]:80"),
            (Rendezvous{.server = {Address{"10.0.0.1", 4711}, Address{"fe80::7", 80}}}));
  for (const char* wrong :
       {"file:", "tcp:", "tcp:a", "tcp:a:0", "tcp:a:70000", "tcp:a:1,", "rank0::1", "http:a:1", "x"}) {
    EXPECT_FALSE(launch_facts(with(kTorchrun, {{"COHORT_RENDEZVOUS", wrong}}), kUser)) << wrong;
  }
}

TEST(LaunchFacts, TheStoreOfTorchrunKeepsItsPort) {
  const auto facts = facts_of(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}}));
  EXPECT_EQ(facts.rendezvous.address->port, 29501);
}

TEST(LaunchFacts, AStepOfSlurmMeetsOnItsFirstHost) {
  const auto at = [](const EnvironmentVariables& more) {
    return facts_of(with(kSlurm, more)).rendezvous.address.value();
  };
  const auto first = at({{"SLURM_STEP_NODELIST", "n[3-5]"}});
  EXPECT_EQ(first.host, "n3");
  EXPECT_EQ(first, at({{"SLURM_STEP_NODELIST", "n[3-5]"}, {"SLURM_PROCID", "0"}, {"SLURM_NODEID", "0"}}));
  EXPECT_NE(first.port, at({{"SLURM_STEP_NODELIST", "n[3-5]"}, {"SLURM_STEP_ID", "1"}}).port);
}

TEST(LaunchFacts, HowHostsTalk) {
  const auto facts = facts_of(with(kCohort, {{"COHORT_KEY_FD", "3"},
                                             {"COHORT_KEY_FILE", "/a key"},
                                             {"COHORT_INTERFACES", "eth0,ib0"},
                                             {"COHORT_ENCRYPTION", "off"}}));
  EXPECT_EQ(facts.key.descriptor, 3);
  EXPECT_EQ(facts.key.file, "/a key");
  EXPECT_EQ(facts.links.interfaces, (std::vector<std::string>{"eth0", "ib0"}));
  EXPECT_FALSE(facts.links.encrypts);
  EXPECT_TRUE(facts_of(kCohort).links.encrypts);
  EXPECT_FALSE(launch_facts(with(kCohort, {{"COHORT_ENCRYPTION", "maybe"}}), kUser));
}

TEST(LaunchFacts, WhatCarriesCalls) {
  const LinkSettings all{.backend = Backend::kUcx,
                         .algorithm = CollectiveAlgorithm::kRing,
                         .chunk_bytes = 65536,
                         .wire = WireDType::kFloat16,
                         .sockets = 2,
                         .explain = true};
  for (const EnvironmentVariables& launcher : {EnvironmentVariables{}, kCohort, kSlurm}) {
    for (const LinkSettings& settings : {all, LinkSettings{}}) {
      EXPECT_EQ(facts_of(with(launcher, launch::link_variables(settings))).links.settings, settings);
    }
    EXPECT_EQ(facts_of(with(launcher, {{"COHORT_BACKEND", ""}})).links.settings, LinkSettings{});
  }
  EXPECT_EQ(mistake_in({{"COHORT_BACKEND", "steam"}}),
            "the environment has COHORT_BACKEND='steam', which is no backend. Set it to one of auto, tcp, "
            "ucx, mpi, "
            "or unset it.");
  EXPECT_EQ(mistake_in({{"COHORT_ENGINE", "ucx"}}),
            "the environment has COHORT_ENGINE='ucx', a name that is no longer read. It is called "
            "COHORT_BACKEND: set that, and unset COHORT_ENGINE.");
}

TEST(LaunchFacts, ZeroIsNoChunkAndNoNumberOfSockets) {
  EXPECT_EQ(
      mistake_in({{"COHORT_CHUNK", "0"}}),
      "the environment has COHORT_CHUNK='0', which is not a size of 4 KiB or more. Set it to a size such "
      "as 256KiB, or to auto for the fastest, or unset it.");
  EXPECT_EQ(
      mistake_in({{"COHORT_SOCKETS", "0"}}),
      "the environment has COHORT_SOCKETS='0', which is not a number from 1 to 8. Set it to a number of "
      "TCP connections, or to auto for the faster number, or unset it.");
  const EnvironmentVariables chosen = {
      {"COHORT_ALGORITHM", "auto"}, {"COHORT_CHUNK", "auto"}, {"COHORT_SOCKETS", "auto"}};
  EXPECT_EQ(facts_of(with(kCohort, chosen)).links.settings, LinkSettings{});
}

TEST(LaunchFacts, UnknownWordsAreNamedWithThoseThatAreKnown) {
  EXPECT_EQ(mistake_in({{"COHORT_ALGORITHM", "steam"}}),
            "the environment has COHORT_ALGORITHM='steam', which is no algorithm. Set it to auto or one of "
            "direct, halving_doubling, doubling, split, ring, tree, star, dissemination, hierarchical, or "
            "unset it.");
  EXPECT_EQ(
      mistake_in({{"COHORT_WIRE", "f8"}}),
      "the environment has COHORT_WIRE='f8', which is no wire type. Set it to one of same, bf16, f16, or "
      "unset it.");
}

TEST(LinkSettings, WhatIsSaidWinsOverWhatOthersSay) {
  const LinkSettings own{.backend = Backend::kTcp};
  const LinkSettings others{.backend = Backend::kUcx, .algorithm = CollectiveAlgorithm::kRing};
  EXPECT_EQ(own.over(others),
            (LinkSettings{.backend = Backend::kTcp, .algorithm = CollectiveAlgorithm::kRing}));
  EXPECT_EQ(LinkSettings{}.over(others), others);
}

TEST(SlurmTasks, AreUnfolded) {
  EXPECT_EQ(*launch::parse_tasks_per_node("4"), (std::vector<int>{4}));
  EXPECT_EQ(*launch::parse_tasks_per_node("2(x3),1"), (std::vector<int>{2, 2, 2, 1}));
  EXPECT_EQ(*launch::parse_tasks_per_node("1,2(x2),3"), (std::vector<int>{1, 2, 2, 3}));
  for (const char* text :
       {"", ",", "1,", "0", "2(x0)", "2(x", "2(x3", "2x3)", "(x3)", "a", "2(x999999999)", "-1"}) {
    EXPECT_FALSE(launch::parse_tasks_per_node(text)) << text;
  }
}

}  // namespace
}  // namespace cohort::test
