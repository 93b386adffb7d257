#pragma once

#include "base/result.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cohort::interchange {

/// Rules by which names of one system become names of another. The first rule that matches counts; a name
/// that no rule matches stays as it is.
///
///     module.* -> *                                    the prefix of DistributedDataParallel
///     transformer.h.*.attn -> blocks.*.attention       and everything below: blocks.3.attention.bias
///     optim.state.**.exp_avg -> **/exp_avg             the moments of a DCP directory
///
///     const auto rules = value_or_throw(NameRules::parse({{"module.* -> *"}}));
///     rules.apply("module.fc.weight").name             "fc.weight"
///
/// A pattern matches a name, or the part of a name before a '.' or '/': what follows stays. `*` stands for
/// one or more characters without '.' and '/', `**` for any characters, as few as possible. The result has
/// the same wildcards in the same order, or the first of them.
///
/// Threads: immutable.
/// Cost: for each rule the length of the pattern times the length of the name.
class NameRules {
 public:
  /// A name and the rule that made it.
  struct Applied {
    std::string name{};
    std::optional<std::size_t> rule{};  ///< nothing: no rule matched
  };

  NameRules() = default;
  /// Failure: kUsage, naming the rule, for one without '->' or a pattern, or whose wildcards differ.
  static Result<NameRules> parse(std::span<const std::string> rules);

  Applied apply(std::string_view name) const;
  /// The rules as they were given.
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Token {
    enum class Kind { kText, kPart, kAny } kind = Kind::kText;
    std::string text{};
  };
  struct Rule {
    std::vector<Token> pattern{};
    std::vector<Token> result{};
  };

  static std::vector<Token> tokens_of(std::string_view text);
  static Result<Rule> rule_of(const std::string& text);
  static std::optional<std::string> renamed(const Rule& rule, std::string_view name);
  static std::optional<std::vector<std::size_t>> match(const std::vector<Token>& pattern,
                                                       std::string_view name);

  std::vector<std::string> texts_;
  std::vector<Rule> rules_;
};

}  // namespace cohort::interchange
