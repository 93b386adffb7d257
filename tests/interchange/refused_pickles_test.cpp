#include "opcodes.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using namespace interchange;  // NOLINT: the subject of all tests here

const std::string kRemedy =
    " If you trust the file, load it in Python and save its tensors alone: "
    "torch.save(module.state_dict(), path).";

std::string not_allowed(const std::string& name, int place) {
  return fmt::format(
      "unsupported: the pickle names the global '{}' at byte {}, which is not allowed: nothing was "
      "executed.{}",
      name, place, kRemedy);
}

std::string corrupt(int place, const std::string& why) {
  return fmt::format("corrupt: the pickle is corrupt at byte {}: {}", place, why);
}

TEST(RefusedPickles, NameOtherGlobals) {
  EXPECT_EQ(refusal(global("os", "system") + text("true") + "\x85R"), not_allowed("os.system", 0));
  EXPECT_EQ(refusal("N" + global("builtins", "eval")), not_allowed("builtins.eval", 1));
  EXPECT_EQ(refusal(global("__builtin__", "exec")), not_allowed("__builtin__.exec", 0));
  EXPECT_EQ(refusal(text("posix") + text("system") + "\x93"), not_allowed("posix.system", 21));
  EXPECT_EQ(refusal(global("torch", "load")), not_allowed("torch.load", 0));
  EXPECT_EQ(refusal(global("numpy.core.multiarray", "scalar")),
            not_allowed("numpy.core.multiarray.scalar", 0));
  EXPECT_EQ(refusal(global("builtins", "getattr")), not_allowed("builtins.getattr", 0)) << "of DCP alone";
  EXPECT_EQ(refusal(global("torch", "Size"), plain_globals()), not_allowed("torch.Size", 0));
  EXPECT_EQ(refusal(global("a\x1b[2J", "b")), not_allowed("a\\x1b[2J.b", 0));
  EXPECT_EQ(refusal(global("collections.OrderedDict", "")), not_allowed("collections.OrderedDict.", 0));
  EXPECT_EQ(refusal("c" + std::string(300, 'x') + "\n"),
            "corrupt: module of a global at byte 1 is longer than the 256 bytes that are read");
}

TEST(RefusedPickles, NameAnAllowedGlobalOfAnotherModule) {
  EXPECT_EQ(refusal(global("evil", "OrderedDict") + ")R"), not_allowed("evil.OrderedDict", 0));
  EXPECT_EQ(refusal(global("builtins", "encode")), not_allowed("builtins.encode", 0));
  EXPECT_EQ(refusal(global("torch._utils", "FloatStorage")), not_allowed("torch._utils.FloatStorage", 0));
  EXPECT_EQ(refusal(global("os", "getattr"), dcp_globals()), not_allowed("os.getattr", 0));
}

TEST(RefusedPickles, NameTypesThatAreMissingHere) {
  EXPECT_EQ(refusal(global("torch", "ComplexFloatStorage")),
            "unsupported: the pickle has elements of type torch.ComplexFloatStorage (byte 0), expected one "
            "of f32 f64 "
            "bf16 f16 i8 i16 i32 i64 u8 bool. Convert these tensors before you save them.");
}

TEST(RefusedPickles, HaveOpcodesThatMakeObjects) {
  for (const char code :
       {'i', 'o', 'P', '\x92', '\x82', '0', '2', 'F', 'I', 'S', 'V', 'd', 'l', '\x8b', '\x8d', '\x96'}) {
    EXPECT_EQ(refusal(std::string("N") + code),
              fmt::format(
                  "unsupported: byte 1 of the pickle is opcode {:#04x}, which is not allowed. Save tensors, "
                  "numbers, texts, lists and dictionaries only, with torch.save().",
                  static_cast<unsigned char>(code)));
  }
}

TEST(RefusedPickles, CallWhatIsNoFunction) {
  EXPECT_EQ(refusal(global("torch", "float32") + ")R"), corrupt(16, "torch.float32 cannot be called"));
  EXPECT_EQ(refusal("])R"), corrupt(2, "expected a global to call, found a list"));
  EXPECT_EQ(refusal(global("torch", "Size") + "]R"),
            corrupt(13, "expected a tuple of arguments, found a list"));
  EXPECT_EQ(refusal(global("torch", "Size") + ")R"),
            "corrupt: a call of torch.Size at byte 13 is refused: expected 1 … 1 arguments, found 0");
  EXPECT_EQ(
      refusal(global("_codecs", "encode") + tuple(text("x") + text("rot13")) + "R"),
      "corrupt: a call of _codecs.encode at byte 34 is refused: expected 'latin1' as argument, found a text");
  EXPECT_EQ(refusal(global("_codecs", "encode") + tuple(text("€") + text("latin1")) + "R"),
            "corrupt: a call of _codecs.encode at byte 37 is refused: expected a text of Latin-1 as "
            "argument, found "
            "another character");
  EXPECT_EQ(refusal(global("collections", "OrderedDict") + ")\x81"),
            corrupt(26, "expected a dataclass without arguments, found collections.OrderedDict with 0"));
  EXPECT_EQ(refusal("]}b"), corrupt(2, "expected an object or a dict, found a list"));
  EXPECT_EQ(refusal(global("torch", "Size") + "}b"),
            corrupt(13, "expected an object or a dict, found torch.Size"));
}

TEST(RefusedPickles, GetAttributesOfAnythingButEnumerations) {
  const std::string getattr = global("builtins", "getattr");
  EXPECT_EQ(
      refusal(getattr + tuple(global("pathlib", "PosixPath") + text("rmdir")) + "R", dcp_globals()),
      "corrupt: a call of builtins.getattr at byte 49 is refused: expected an enumeration as argument, found "
      "pathlib.PosixPath");
}

TEST(RefusedPickles, TakeFromAnEmptyStack) {
  EXPECT_EQ(refusal(""), corrupt(0, "expected a value on the stack, found nothing"));
  EXPECT_EQ(refusal("("), corrupt(1, "expected a value on the stack, found nothing"));
  EXPECT_EQ(refusal("t"), corrupt(0, "expected a mark on the stack, found none"));
  EXPECT_EQ(refusal("N(\x85"), corrupt(2, "expected 1 values on the stack, found 0"));
  EXPECT_EQ(refusal("N\x87"), corrupt(1, "expected 3 values on the stack, found 1"));
  EXPECT_EQ(refusal("a"), corrupt(0, "expected a value on the stack, found nothing"));
  EXPECT_EQ(refusal("Na"), corrupt(1, "expected a list on the stack, found nothing"));
  EXPECT_EQ(refusal("NNa"), corrupt(2, "expected a list, found None"));
  EXPECT_EQ(refusal("}NNs(Nu"), corrupt(6, "expected a value for every key, found a key alone"));
  EXPECT_EQ(refusal("}(NNe"), corrupt(4, "expected a list, found a dict"));
  EXPECT_EQ(refusal("q\1"), corrupt(0, "expected a value on the stack, found nothing"));
  EXPECT_EQ(refusal("h\1"), corrupt(0, "value 1 is not in the memo"));
  EXPECT_EQ(refusal("\x80\x06N"), corrupt(0, "expected a protocol up to 5, found 6"));
}

TEST(RefusedPickles, ClaimGreatLengths) {
  EXPECT_EQ(refusal("X" + raw(0xffffffffu)),
            corrupt(0, "expected a text of at most 16777216 bytes, found 4294967295"));
  EXPECT_EQ(refusal("X" + raw(1u << 24)),
            "corrupt: text at byte 5 is cut off: expected 16777216 bytes, found 1");
  EXPECT_EQ(refusal("\x8a\xff"), "corrupt: integer at byte 2 is cut off: expected 255 bytes, found 1");
}

TEST(RefusedPickles, GoDeep) {
  std::string deep = "]";
  for (int i = 0; i < 100'000; ++i) deep += "\x85";
  EXPECT_EQ(refusal(deep), "corrupt: the pickle stands for more than 100 values inside each other");
  EXPECT_EQ(refusal("]q\1h\1a"), "corrupt: the pickle stands for more than 100 values inside each other");
  EXPECT_EQ(refusal(std::string(1001, '(')), corrupt(1000, "expected at most 1000 open marks"));
}

TEST(RefusedPickles, StandForTreesWithoutEnd) {
  std::string bomb = "Nq";
  bomb += '\0';
  for (char level = 0; level < 40; ++level) {
    bomb += "(";
    for (int i = 0; i < 10; ++i) bomb += std::string("h") + level;
    bomb += std::string("tq") + static_cast<char>(level + 1);
  }
  EXPECT_EQ(refusal(bomb), "corrupt: the pickle stands for more than 16777216 values");
  std::string texts = text(std::string(1 << 20, 'x')) + "q\1(";
  for (int i = 0; i < 300; ++i) texts += "h\1";
  EXPECT_EQ(refusal(texts + "t"), "corrupt: the pickle stands for more than 268435456 bytes of text");
}

TEST(RefusedPickles, HaveKeysThatNobodyCanName) {
  EXPECT_EQ(refusal("}NNs"),
            "corrupt: the pickle stands for a dict with None as a key, expected an integer or a text");
  EXPECT_EQ(refusal("}]Ns"),
            "corrupt: the pickle stands for a dict with a list as a key, expected an integer or a text");
  EXPECT_EQ(refusal("}K\1NsK\1Ns"), "corrupt: the pickle stands for a dict in which a key occurs twice");
  EXPECT_EQ(refusal("}" + text("a") + "Ns" + text("a") + "Ns"),
            "corrupt: the pickle stands for a dict in which a key occurs twice");
}

std::string tensor_refusal(const std::string& shape, const std::string& strides, int offset = 0,
                           const std::string& of = storage()) {
  const std::string text = refusal(tensor(shape, strides, offset, of));
  const std::size_t begin = text.find("is refused: ");
  return begin == std::string::npos ? text : text.substr(begin + 12);
}

TEST(RefusedPickles, HaveTensorsOutsideTheirStorage) {
  EXPECT_EQ(tensor_refusal(number(2) + number(3), number(3) + number(1)), "");
  EXPECT_EQ(
      tensor_refusal(number(2) + number(3), number(3) + number(1), 1),
      "a tensor of shape [2, 3] with strides [3, 1] from element 1 on does not fit into its storage of 6 "
      "elements");
  EXPECT_EQ(
      tensor_refusal(number(7), number(1)),
      "a tensor of shape [7] with strides [1] from element 0 on does not fit into its storage of 6 elements");
  EXPECT_EQ(tensor_refusal(number(0), number(1), 2'000'000'000), "") << "an empty tensor";
  EXPECT_EQ(tensor_refusal(number(2), number(-1)),
            "expected an integer from 0 on as strides of a tensor, found -1");
  EXPECT_EQ(tensor_refusal(number(-2), number(1)),
            "expected an integer from 0 on as shape of a tensor, found -2");
  EXPECT_EQ(tensor_refusal(number(2), number(1), -1),
            "expected an integer from 0 on as offset of a tensor, found -1");
  EXPECT_EQ(tensor_refusal(number(2), ""), "expected as many strides as dimensions, found 0 and 1");
  EXPECT_EQ(tensor_refusal("N", number(1)), "expected an integer from 0 on as shape of a tensor, found None");
  const std::string most = "\x8a\x08" + raw(std::int64_t{0x7fffffffffffffff});
  EXPECT_TRUE(tensor_refusal(most, most).ends_with("does not fit into its storage of 6 elements"));
  EXPECT_TRUE(tensor_refusal(most + most, number(0) + number(0)).starts_with("a tensor of shape ["));
  EXPECT_EQ(tensor_refusal(number(1 << 30), number(0)),
            "a tensor of shape [1073741824] repeats the 6 elements of its storage; at most 1073741824 bytes "
            "are read. "
            "Save a tensor that was expanded in its original shape.");
  std::string ones;
  for (int i = 0; i < 65; ++i) ones += number(1);
  EXPECT_EQ(tensor_refusal(ones, ones),
            "expected a tuple of at most 64 integers as shape of a tensor, found a tuple");
}

TEST(RefusedPickles, HaveStoragesThatContradictThemselves) {
  EXPECT_EQ(refusal(tuple(storage("0", 6) + storage("0", 7))),
            "corrupt: storage '0' has 7 elements of 4 bytes, expected 6 of 4 as before");
  EXPECT_EQ(refusal(tuple(storage("0", 6) + storage("0", 6, "LongStorage"))),
            "corrupt: storage '0' has 6 elements of 8 bytes, expected 6 of 4 as before");
  EXPECT_NE(
      refusal(storage("0", -1)).find("expected a length of 0 … 72057594037927936 of storage '0', found -1"),
      std::string::npos);
  EXPECT_EQ(refusal("K\1Q"), corrupt(2, "expected a tuple as the id of a storage, found an integer"));
  EXPECT_EQ(refusal(")Q"), corrupt(1, "expected 5 or 6 items in the id of a storage, found 0"));
  EXPECT_NE(refusal(tuple(text("module") + "NNNN") + "Q").find("expected 'storage', found 'module'"),
            std::string::npos);
}

TEST(RefusedPickles, AreCutAnywhere) {
  const std::string whole = global("collections", "OrderedDict") + ")R(" + text("weight") +
                            tensor(number(2) + number(3), number(3) + number(1)) + "u.";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    MemoryBytes file(cut);
    ByteFeed feed(value_or_throw(FileWindow::whole(file)));
    const auto result = unpickle(feed, torch_globals());
    ASSERT_FALSE(result) << length;
    EXPECT_EQ(result.error().code(), ErrorCode::kCorrupt) << length;
    EXPECT_NE(result.error().text().find("is cut off"), std::string::npos) << result.error().text();
  }
}

}  // namespace
}  // namespace cohort::test
