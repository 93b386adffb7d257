#pragma once

#include "machine/cluster.h"

#include <span>
#include <string>
#include <string_view>

namespace cohort::tool {

// What the ranks of `cohort doctor-links` tell their launcher: lines of JSON, each about one thing. There is
// one rank on each host; hosts are named by their ranks.

std::string link_line(const machine::LinkReport& link);
std::string clock_line(int rank, const machine::ClockReading& clock);

/// Enters what a line says. `hosts`: which host of the report each rank is on. Of two lines on the same link
/// one with a cost counts more than one without, then the first. What makes no sense is left out.
void take_line(std::string_view line, std::span<const int> hosts, machine::ClusterReport& report);

}  // namespace cohort::tool
