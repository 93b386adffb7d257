#include "interchange/pickle/unpickler.h"

#include <algorithm>

namespace cohort::interchange {

// All opcodes that are allowed, those of STOP apart. Pickles of torch.save() and of DCP need no others.
std::span<const Opcode> Unpickler::opcodes() {
  using U = Unpickler;
  static constexpr Opcode kAllowed[] = {
      {0x80, "PROTO", &U::protocol},
      {0x95, "FRAME", &U::frame},
      {'N', "NONE", &U::none},
      {0x88, "NEWTRUE", &U::truth},
      {0x89, "NEWFALSE", &U::falsehood},
      {'J', "BININT", &U::integer<std::int32_t>},
      {'K', "BININT1", &U::integer<std::uint8_t>},
      {'M', "BININT2", &U::integer<std::uint16_t>},
      {0x8a, "LONG1", &U::long_integer},
      {'G', "BINFLOAT", &U::floating},
      {'X', "BINUNICODE", &U::text<std::uint32_t>},
      {0x8c, "SHORT_BINUNICODE", &U::text<std::uint8_t>},
      {'T', "BINSTRING", &U::text<std::uint32_t>},
      {'U', "SHORT_BINSTRING", &U::text<std::uint8_t>},
      {'B', "BINBYTES", &U::bytes<std::uint32_t>},
      {'C', "SHORT_BINBYTES", &U::bytes<std::uint8_t>},
      {'(', "MARK", &U::mark},
      {')', "EMPTY_TUPLE", &U::empty_tuple},
      {']', "EMPTY_LIST", &U::empty_list},
      {'}', "EMPTY_DICT", &U::empty_dict},
      {0x8f, "EMPTY_SET", &U::empty_list},
      {0x85, "TUPLE1", &U::tuple_of<1>},
      {0x86, "TUPLE2", &U::tuple_of<2>},
      {0x87, "TUPLE3", &U::tuple_of<3>},
      {'t', "TUPLE", &U::tuple},
      {'a', "APPEND", &U::append},
      {'e', "APPENDS", &U::appends},
      {0x90, "ADDITEMS", &U::appends},
      {0x91, "FROZENSET", &U::frozen_set},
      {'s', "SETITEM", &U::set_item},
      {'u', "SETITEMS", &U::set_items},
      {'q', "BINPUT", &U::put<std::uint8_t>},
      {'r', "LONG_BINPUT", &U::put<std::uint32_t>},
      {0x94, "MEMOIZE", &U::memoize},
      {'h', "BINGET", &U::get<std::uint8_t>},
      {'j', "LONG_BINGET", &U::get<std::uint32_t>},
      {'c', "GLOBAL", &U::global},
      {0x93, "STACK_GLOBAL", &U::stack_global},
      {'R', "REDUCE", &U::reduce},
      {0x81, "NEWOBJ", &U::new_object},
      {'b', "BUILD", &U::build},
      {'Q', "BINPERSID", &U::persistent_id},
  };
  return kAllowed;
}

const Opcode* Unpickler::opcode_of(unsigned char code) {
  const std::span<const Opcode> all = opcodes();
  const auto found =
      std::find_if(all.begin(), all.end(), [code](const Opcode& opcode) { return opcode.code == code; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace cohort::interchange
