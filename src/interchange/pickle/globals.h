#pragma once

#include "interchange/pickle/graph.h"

#include <span>

namespace cohort::interchange {

/// Makes a value as a function or a class of Python would from these arguments, without running any Python.
///
/// Failure: kCorrupt for arguments that the function does not take; kUnsupported for values that are refused.
using Call = Result<Node> (*)(Graph& graph, std::span<const NodeId> arguments);

/// The use of a global.
enum class GlobalUse : std::uint8_t {
  kCall,         ///< it is called; `call` makes the value
  kObject,       ///< it is called; the value is an object with the arguments
  kClass,        ///< a dataclass: an object that gets its fields
  kName,         ///< a value of its own, such as torch.strided
  kDType,        ///< an element type
  kStorage,      ///< the type of a storage
  kBytes,        ///< the type of a storage of bytes, without element type
  kUnsupported,  ///< an element type without a DType
};

/// A name of Python that a pickle may use.
struct Global {
  std::string_view module{};
  std::string_view name{};
  GlobalUse use = GlobalUse::kName;
  Call call = nullptr;
  DType dtype = DType::kF32;
};

std::string full_name(const Global& global);

/// The globals that a kind of file may use: lines of tables. Everything else is refused.
using GlobalTable = std::span<const std::span<const Global>>;

/// Null if the table does not allow the name. `__builtin__` stands for `builtins`, as pickles of Python 2 and
/// of protocol 2 call it.
const Global* find_global(GlobalTable table, std::string_view module, std::string_view name);

/// No globals at all.
GlobalTable plain_globals();
/// The globals of a state dict that torch.save() wrote.
GlobalTable torch_globals();
/// The globals of the `.metadata` of a directory that torch.distributed.checkpoint wrote.
GlobalTable dcp_globals();

/// The type of a storage in a pickle: `FloatStorage` for f32.
std::string_view storage_name(DType dtype);

/// The arguments if their number is in this range.
///
/// Failure: kCorrupt.
Status expect_arguments(std::span<const NodeId> arguments, std::size_t least, std::size_t most);

}  // namespace cohort::interchange
