#include "data/openers.h"
#include "data/records_in_memory.h"
#include "records/record_file.h"

#include <fmt/format.h>

namespace cohort::data {
namespace {

using records::NamedText;
using records::TokenKind;

Result<TokenKind> token_kind(const DataConfig& config) {
  if (config.tokens == "byte") return TokenKind::kByte;
  if (config.tokens == "char") return TokenKind::kChar;
  return bad_key("tokens", fmt::format("'{}' is unknown", config.tokens), "Take byte or char.");
}

Status check_settings(const DataConfig& config) {
  if (config.context < 1) return bad_key("context", fmt::format("is {}", config.context), "Give at least 1.");
  if (config.stride.value_or(1) < 1) {
    return bad_key("stride", fmt::format("is {}", *config.stride), "Give at least 1.");
  }
  if (config.normalize) {
    return bad_key("normalize", "is set, but tokens are no quantities", "Leave it out for text.");
  }
  if (config.split != "auto" && config.split != "end") {
    return bad_key("split", fmt::format("= \"{}\" is not for text, whose samples may overlap", config.split),
                   "Leave it out: the end of the text is the test data.");
  }
  return {};
}

Error too_short(const std::string& path, std::int64_t tokens, const DataConfig& config) {
  return Error(ErrorCode::kUsage, fmt::format("'{}' has {} tokens for training, too few for a context of {}",
                                              path, tokens, config.context))
      .with_remedy("Give more text, or a smaller data.context.");
}

DataFacts facts_of(std::int64_t vocabulary, const DataConfig& config, std::int64_t tokens) {
  return {.input_shape = {config.context},
          .input_dtype = DType::kI64,
          .outputs = vocabulary,
          .vocabulary = vocabulary,
          .context = config.context,
          .description = fmt::format("{} tokens of text, {} different ones, {} per sample", tokens,
                                     vocabulary, config.context)};
}

}  // namespace

Result<OpenedData> open_text(FileSystem& fs, const DataConfig& config, std::uint64_t seed) {
  COHORT_RETURN_IF_ERROR(check_settings(config));
  COHORT_ASSIGN_OR_RETURN(const TokenKind kind, token_kind(config));
  COHORT_ASSIGN_OR_RETURN(const std::string train, records::read_record_file(fs, config.path));
  std::string test;
  if (!config.test_path.empty()) {
    COHORT_ASSIGN_OR_RETURN(test, records::read_record_file(fs, config.test_path));
  }
  COHORT_ASSIGN_OR_RETURN(records::TokenTexts tokens,
                          records::tokens_of(kind, {{train, config.path}, {test, config.test_path}}));
  const auto share = [](std::vector<records::Token>& text) {
    return std::make_shared<const std::vector<records::Token>>(std::move(text));
  };
  TokenSpan trained{share(tokens.texts[0]), 0, 0}, tested{share(tokens.texts[1]), 0, 0};
  trained.last = static_cast<std::int64_t>(trained.tokens->size());
  tested.last = static_cast<std::int64_t>(tested.tokens->size());
  if (config.test_path.empty()) {
    COHORT_ASSIGN_OR_RETURN(const TestSplit split, split_of(config, seed));
    const auto num_test = static_cast<std::int64_t>(split.share * static_cast<double>(trained.last));
    tested = {trained.tokens, trained.last - num_test, trained.last};
    trained.last -= num_test;
  }
  if (trained.count() <= config.context) return too_short(config.path, trained.count(), config);
  OpenedData opened;
  opened.facts = facts_of(static_cast<std::int64_t>(tokens.vocabulary.size()), config, trained.count());
  opened.vocabulary = std::move(tokens.vocabulary);
  opened.source.tokens = config.tokens;
  const WindowShape windows{.context = config.context, .stride = config.stride.value_or(config.context)};
  opened.train = std::make_shared<TokenWindows>(std::move(trained), windows);
  opened.test = std::make_shared<TokenWindows>(std::move(tested), windows);
  return opened;
}

}  // namespace cohort::data
