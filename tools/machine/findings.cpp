#include "machine/findings.h"

#include <fmt/format.h>

namespace cohort::machine {
namespace {

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
}

}  // namespace

std::string fitted(std::string text) {
  constexpr std::string_view kEllipsis = "…";
  std::size_t characters = 0;
  std::size_t cut = 0;  // position of the ellipsis if the text is too long
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) < ' ') text[i] = ' ';
    if (!begins_character(text[i])) continue;
    if (characters == kLongestFound - 1) cut = i;
    ++characters;
  }
  if (characters <= kLongestFound) return text;
  return text.substr(0, cut).append(kEllipsis);
}

void Findings::fine(std::string topic, std::string found) {
  add(std::move(topic), Severity::kFine, std::move(found), "");
}

void Findings::note(std::string topic, std::string found, std::string remedy) {
  add(std::move(topic), Severity::kNote, std::move(found), std::move(remedy));
}

void Findings::warning(std::string topic, std::string found, std::string remedy) {
  add(std::move(topic), Severity::kWarning, std::move(found), std::move(remedy));
}

void Findings::problem(std::string topic, std::string found, std::string remedy) {
  add(std::move(topic), Severity::kProblem, std::move(found), std::move(remedy));
}

void Findings::unknown(std::string topic, const Error& reason) {
  note(std::move(topic), "not known: " + reason.text(),
       fmt::format("This was not checked, because: {}", reason.text()));
}

void Findings::add(std::string topic, Severity severity, std::string found, std::string remedy) {
  findings_.push_back({.topic = std::move(topic),
                       .severity = severity,
                       .found = fitted(std::move(found)),
                       .remedy = std::move(remedy)});
}

}  // namespace cohort::machine
