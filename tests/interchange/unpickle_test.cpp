#include "opcodes.h"

#include <gtest/gtest.h>
#include <limits>

namespace cohort::test {
namespace {

using namespace interchange;  // NOLINT: the subject of all tests here

TEST(Unpickle, ReadsNumbersAndTexts) {
  EXPECT_EQ(value_of("N"), Value());
  EXPECT_EQ(value_of("\x88"), Value(true));
  EXPECT_EQ(value_of("\x89"), Value(false));
  EXPECT_EQ(value_of("K\xff"), Value(255));
  EXPECT_EQ(value_of("M\xff\xff"), Value(65535));
  EXPECT_EQ(value_of(number(-7)), Value(-7));
  EXPECT_EQ(value_of(std::string("\x8a\x00", 2)), Value(0));
  EXPECT_EQ(value_of("\x8a\x01\xff"), Value(-1));
  EXPECT_EQ(value_of(std::string("\x8a\x02\xff\x00", 4)), Value(255));
  EXPECT_EQ(value_of("\x8a\x08" + raw(std::numeric_limits<std::int64_t>::min())),
            Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(value_of("\x8a\x09" + std::string(9, '\x01')),
            Value(Object{.type = "builtins.int", .content = {Bytes{.bytes = std::string(9, '\x01')}}}));
  EXPECT_EQ(value_of(std::string("G\x3f\xf8\0\0\0\0\0\0", 9)), Value(1.5));
  EXPECT_EQ(value_of(text("")), Value(""));
  EXPECT_EQ(value_of(text("a\nb")), Value("a\nb"));
  EXPECT_EQ(value_of("\x8c\x02xy"), Value("xy"));
  EXPECT_EQ(value_of("C\x02xy"), Value(Bytes{.bytes = "xy"}));
}

TEST(Unpickle, ReadsContainers) {
  EXPECT_EQ(value_of(")"), Value(Tuple{}));
  EXPECT_EQ(value_of("K\1K\2K\3\x87"), Value(Tuple{.items = {1, 2, 3}}));
  EXPECT_EQ(value_of("]K\1a(K\2K\3e"), Value(List{.items = {1, 2, 3}}));
  EXPECT_EQ(value_of("\x8f(K\1\x90"), Value(List{.items = {1}}));
  const Value dict = value_of("}" + text("a") + "K\1s(K\2K\3u");
  EXPECT_EQ(*dict.as<Dict>()->find("a"), Value(1));
  EXPECT_EQ(*dict.as<Dict>()->find(2), Value(3));
  EXPECT_EQ(dict.as<Dict>()->find("b"), nullptr);
  const Value ordered = value_of(global("collections", "OrderedDict") + ")R}b" + text("a") + "K\1s");
  EXPECT_EQ(ordered.as<Dict>()->kind, DictKind::kOrderedDict);
  EXPECT_EQ(ordered.as<Dict>()->entries.size(), 1u);
  const Value pairs = value_of(global("collections", "OrderedDict") + "](](K\1K\2eK\4K\5\x86" + "e\x85R");
  EXPECT_EQ(*pairs.as<Dict>()->find(1), Value(2));
  EXPECT_EQ(*pairs.as<Dict>()->find(4), Value(5));
}

TEST(Unpickle, ReadsWhatTheMemoHolds) {
  EXPECT_EQ(value_of("]q\7h\7\x86"), Value(Tuple{.items = {List{}, List{}}}));
  EXPECT_EQ(value_of("]\x94K\1ah" + std::string(1, '\0') + "\x86"),
            Value(Tuple{.items = {List{.items = {1}}, List{.items = {1}}}}));
  EXPECT_EQ(value_of("Nr" + raw(4'000'000'000u) + "j" + raw(4'000'000'000u) + "\x86"),
            Value(Tuple{.items = {Value(), Value()}}));
}

}  // namespace
}  // namespace cohort::test
