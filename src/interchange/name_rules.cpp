#include "interchange/name_rules.h"

#include <fmt/format.h>

namespace cohort::interchange {
namespace {

constexpr std::string_view kArrow = "->";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_separator(char letter) {
  return letter == '.' || letter == '/';
}

Error bad_rule(const std::string& rule, std::string_view why) {
  return Error(ErrorCode::kUsage, fmt::format("the rule '{}' {}", rule, why))
      .with_remedy("Write a rule as 'module.* -> *'.");
}

}  // namespace

std::vector<NameRules::Token> NameRules::tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("**")) {
      tokens.push_back({.kind = Token::Kind::kAny, .text = {}});
      at += 2;
    } else if (text[at] == '*') {
      tokens.push_back({.kind = Token::Kind::kPart, .text = {}});
      ++at;
    } else {
      const std::size_t end = std::min(text.find('*', at), text.size());
      tokens.push_back({.kind = Token::Kind::kText, .text = std::string(text.substr(at, end - at))});
      at = end;
    }
  }
  return tokens;
}

Result<NameRules::Rule> NameRules::rule_of(const std::string& text) {
  const std::size_t arrow = text.find(kArrow);
  if (arrow == std::string::npos) return bad_rule(text, "has no '->'");
  Rule rule{.pattern = tokens_of(trimmed(std::string_view(text).substr(0, arrow))),
            .result = tokens_of(trimmed(std::string_view(text).substr(arrow + kArrow.size())))};
  if (rule.pattern.empty() || rule.result.empty()) return bad_rule(text, "lacks a name beside its '->'");
  auto wildcard = rule.pattern.begin();
  for (const Token& token : rule.result) {
    if (token.kind == Token::Kind::kText) continue;
    while (wildcard != rule.pattern.end() && wildcard->kind == Token::Kind::kText) ++wildcard;
    if (wildcard == rule.pattern.end() || wildcard->kind != token.kind) {
      return bad_rule(text, "has other wildcards on the right than on the left");
    }
    ++wildcard;
  }
  return rule;
}

Result<NameRules> NameRules::parse(std::span<const std::string> rules) {
  NameRules all;
  for (const std::string& text : rules) {
    COHORT_ASSIGN_OR_RETURN(Rule rule, rule_of(text));
    all.texts_.push_back(text);
    all.rules_.push_back(std::move(rule));
  }
  return all;
}

// Where each token of the pattern begins in the name, and where the last one ends; nothing if it does not
// match. fits[t][n]: tokens from t on match the name from n on. The table keeps the time from growing with
// the power of the number of wildcards.
std::optional<std::vector<std::size_t>> NameRules::match(const std::vector<Token>& pattern,
                                                         std::string_view name) {
  const std::size_t length = name.size();
  std::vector<std::vector<bool>> fits(pattern.size() + 1, std::vector<bool>(length + 1));
  for (std::size_t n = 0; n <= length; ++n) fits.back()[n] = n == length || is_separator(name[n]);
  for (std::size_t t = pattern.size(); t-- > 0;) {
    const Token& token = pattern[t];
    for (std::size_t n = length + 1; n-- > 0;) {
      if (token.kind == Token::Kind::kText) {
        const bool is_here = name.substr(n).starts_with(token.text);
        fits[t][n] = is_here && fits[t + 1][n + token.text.size()];
      } else if (n < length && (token.kind == Token::Kind::kAny || !is_separator(name[n]))) {
        fits[t][n] = fits[t + 1][n + 1] || fits[t][n + 1];
      }
    }
  }
  if (!fits[0][0]) return std::nullopt;
  std::vector<std::size_t> begins = {0};
  for (std::size_t t = 0; t < pattern.size(); ++t) {
    const bool is_text = pattern[t].kind == Token::Kind::kText;
    std::size_t end = begins.back() + (is_text ? pattern[t].text.size() : 1);
    while (!fits[t + 1][end]) ++end;
    begins.push_back(end);
  }
  return begins;
}

std::optional<std::string> NameRules::renamed(const Rule& rule, std::string_view name) {
  const auto begins = match(rule.pattern, name);
  if (!begins) return std::nullopt;
  std::string made;
  std::size_t wildcard = 0;
  for (const Token& token : rule.result) {
    if (token.kind == Token::Kind::kText) {
      made += token.text;
      continue;
    }
    while (rule.pattern[wildcard].kind == Token::Kind::kText) ++wildcard;
    made += name.substr((*begins)[wildcard], (*begins)[wildcard + 1] - (*begins)[wildcard]);
    ++wildcard;
  }
  return made + std::string(name.substr(begins->back()));
}

NameRules::Applied NameRules::apply(std::string_view name) const {
  for (std::size_t rule = 0; rule < rules_.size(); ++rule) {
    if (auto made = renamed(rules_[rule], name)) return {.name = std::move(*made), .rule = rule};
  }
  return {.name = std::string(name), .rule = std::nullopt};
}

}  // namespace cohort::interchange
