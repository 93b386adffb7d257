#pragma once

#include "machine/sources.h"

#include <string>
#include <string_view>

namespace cohort::machine {

/// The operating system.
struct System {
  Fact<std::string> name;            ///< such as `Debian GNU/Linux 12 (bookworm)`
  Fact<std::string> kernel_release;  ///< such as `6.1.0-18-amd64`
};

/// PRETTY_NAME, or else NAME, from the text of /etc/os-release, without quotes.
Result<std::string> parse_os_name(std::string_view text);

System survey_system(const ReadText& read);

}  // namespace cohort::machine
