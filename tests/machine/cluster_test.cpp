#include "machine/cluster.h"

#include <gtest/gtest.h>

namespace cohort::machine {
namespace {

constexpr double kGigabit_s = 8e-9;  // the time of one byte

/// A report on n hosts `a`, `b`, … without findings, with equal links between them.
ClusterReport healthy(int n) {
  ClusterReport report{.version = "1.0"};
  for (int i = 0; i < n; ++i) {
    report.hosts.push_back({.name = std::string(1, static_cast<char>('a' + i)),
                            .failure = {},
                            .version = "1.0",
                            .clock = ClockReading{0.0001, 0.0002}});
    for (int j = 0; j < n; ++j) {
      if (i != j) report.links.push_back({i, j, LinkCost{50e-6, kGigabit_s}, ""});
    }
  }
  return report;
}

LinkReport& link(ClusterReport& report, int from, int to) {
  for (LinkReport& each : report.links) {
    if (each.from == from && each.to == to) return each;
  }
  ADD_FAILURE() << "no link from " << from << " to " << to;
  return report.links.front();
}

/// `warning a -> b`, …
std::vector<std::string> topics(const ClusterReport& report) {
  std::vector<std::string> texts;
  for (const Finding& finding : diagnose_hosts(report)) {
    texts.push_back(std::string(name(finding.severity)) + " " + finding.topic);
    EXPECT_FALSE(finding.remedy.empty()) << finding.topic;
  }
  return texts;
}

using Topics = std::vector<std::string>;

TEST(Cluster, HealthyHostsGiveNoFinding) {
  for (const int n : {0, 1, 2, 3, 8}) EXPECT_EQ(topics(healthy(n)), Topics{}) << n;
}

TEST(Cluster, AHostThatCannotBeStartedIsNamed) {
  ClusterReport report = healthy(3);
  report.hosts[1].failure = "no route to host";
  report.hosts[1].version = "";
  EXPECT_EQ(topics(report), Topics{"problem b"});
  EXPECT_EQ(diagnose_hosts(report).front().found, "no route to host");
}

TEST(Cluster, AHostThatCannotReachAnotherIsNamedWithTheDirection) {
  ClusterReport report = healthy(3);
  report.unreachable = {{.from = 1, .to = 0, .why = "no answer from 10.0.0.1:4711"}};
  EXPECT_EQ(topics(report), Topics{"problem b -> a"});
  EXPECT_EQ(diagnose_hosts(report).front().found, "no answer from 10.0.0.1:4711");
  report.unreachable.push_back({.from = 2, .to = {}, .why = "no route"});
  EXPECT_EQ(topics(report), (Topics{"problem b -> a", "problem c -> this host"}));
}

TEST(Cluster, APairThatCannotConnectIsNamedOnceAndItsMissingMeasurementIsNot) {
  ClusterReport report = healthy(3);
  report.unreachable = {{.from = 1, .to = 2, .why = "no answer"}, {.from = 2, .to = 1, .why = "no answer"}};
  for (const auto& [from, to] : {std::pair(1, 2), std::pair(2, 1)}) {
    link(report, from, to).cost.reset();
    link(report, from, to).failure = "not measured";
  }
  EXPECT_EQ(topics(report), Topics{"problem b - c"});
}

TEST(Cluster, AnotherVersionHasARemedyOfItsOwn) {
  ClusterReport report = healthy(2);
  report.hosts[1].failure = "Cohort 9.9 is installed there, Cohort 1.0 on this host";
  report.hosts[1].version = "9.9";
  ASSERT_EQ(topics(report), Topics{"problem b"});
  EXPECT_NE(diagnose_hosts(report).front().remedy.find("same version"), std::string::npos);
}

TEST(Cluster, WhatAHostFindsOfItselfIsPassedOnIfItIsBad) {
  ClusterReport report = healthy(2);
  report.hosts[1].findings = {{"memory", Severity::kProblem, "too little", "Buy some."},
                              {"swap", Severity::kWarning, "in use", "Use less."},
                              {"mpi", Severity::kNote, "none", "Nothing to do."},
                              {"cores", Severity::kFine, "8", ""}};
  EXPECT_EQ(topics(report), (Topics{"problem b: memory", "warning b: swap"}));
}

TEST(Cluster, AClockIsWrongIfItIsOffByMoreThanASecondForCertain) {
  ClusterReport report = healthy(4);
  report.hosts[1].clock = ClockReading{3.0, 0.001};
  report.hosts[2].clock = ClockReading{-1.2, 0.1};
  report.hosts[3].clock = ClockReading{1.05, 0.1};  // within the error
  EXPECT_EQ(topics(report), (Topics{"warning b: clock", "warning c: clock"}));
  const auto findings = diagnose_hosts(report);
  EXPECT_NE(findings[0].found.find("3.0 s ahead of that of a"), std::string::npos) << findings[0].found;
  EXPECT_NE(findings[1].found.find("1.2 s behind that of a"), std::string::npos) << findings[1].found;
}

TEST(Cluster, ClocksAreComparedWithTheFirstHostThatAnswered) {
  ClusterReport report = healthy(3);
  report.hosts[0].failure = "gone";
  report.hosts[2].clock = ClockReading{5, 0};
  EXPECT_NE(diagnose_hosts(report).back().found.find("that of b"), std::string::npos);
  for (HostReport& host : report.hosts) host.failure = "gone";
  EXPECT_EQ(clock_reference(report), nullptr);
}

TEST(Cluster, APairWithoutAWayIsNamedOnce) {
  ClusterReport report = healthy(3);
  for (const auto& [from, to] : {std::pair(0, 2), std::pair(2, 0)}) {
    link(report, from, to) = {from, to, {}, "10.0.0.3:4711 does not answer"};
  }
  EXPECT_EQ(topics(report), Topics{"problem a - c"});
}

TEST(Cluster, OneSlowDirectionIsNamed) {
  for (const int n : {2, 3, 5}) {
    ClusterReport report = healthy(n);
    link(report, 1, 0).cost->byte_s = 10 * kGigabit_s;
    EXPECT_EQ(topics(report), Topics{"warning b -> a"}) << n;
  }
}

TEST(Cluster, AHostWithASlowCableIsNamedOnceAndNotItsWays) {
  // With three hosts, two thirds of all links use that cable.
  for (const int n : {3, 4, 7}) {
    ClusterReport report = healthy(n);
    for (LinkReport& each : report.links) {
      if (each.from == 1 || each.to == 1) each.cost->byte_s = 20 * kGigabit_s;
    }
    EXPECT_EQ(topics(report), Topics{"warning b"}) << n;
  }
}

TEST(Cluster, SmallDifferencesAreFine) {
  ClusterReport report = healthy(3);
  link(report, 0, 1).cost =
      LinkCost{900e-6, 3.5 * kGigabit_s};  // slower by far, but below the latency that counts as slow
  EXPECT_EQ(topics(report), Topics{});
}

TEST(Cluster, ALateLinkIsNamed) {
  ClusterReport report = healthy(3);
  link(report, 2, 1).cost->latency_s = 20e-3;
  ASSERT_EQ(topics(report), Topics{"warning c -> b"});
  EXPECT_NE(diagnose_hosts(report).front().found.find("20 ms"), std::string::npos);
}

TEST(Cluster, ThatMeasuringEndedEarlyIsAProblem) {
  ClusterReport report = healthy(2);
  report.failure = "rank 1 on b failed first";
  EXPECT_EQ(topics(report), Topics{"problem measuring"});
}

TEST(Cluster, Amounts) {
  EXPECT_EQ(format_rate(8e-9), "1 Gbit/s");
  EXPECT_EQ(format_rate(8e-6 / 941), "941 Mbit/s");
  EXPECT_EQ(format_rate(8e-6 / 9.6), "9.6 Mbit/s");
  EXPECT_EQ(format_rate(0), "–");
  EXPECT_EQ(format_latency(63e-6), "63 µs");
  EXPECT_EQ(format_latency(1.25e-3), "1.25 ms");
  EXPECT_EQ(format_latency(3.2), "3.2 s");
}

}  // namespace
}  // namespace cohort::machine
