#pragma once

#include "interchange/input/byte_feed.h"
#include "interchange/pickle/globals.h"

#include <vector>

namespace cohort::interchange {

/// The content of a pickle.
struct Unpickled {
  Value value{};
  std::vector<StorageKey> storages{};
};

/// Reads one pickle, up to its STOP, as plain data. Python's unpickler calls whatever a pickle names; this
/// one knows the opcodes of its table and the globals of `allowed`, and refuses everything else.
///
///     ByteFeed feed(value_or_throw(FileWindow::whole(file)));
///     const Unpickled unpickled = value_or_throw(unpickle(feed, torch_globals()));
///
/// Failure: kUnsupported for an opcode or a global that is not in its table, with name and place in the file;
/// kCorrupt for a pickle that is cut off, breaks the format, or exceeds a limit of limits.h.
/// Cost: memory for each value, a few times its bytes in the pickle; at most kMostValues values.
Result<Unpickled> unpickle(ByteFeed& feed, GlobalTable allowed);

/// The tree of values below a node, in which values that the pickle refers to several times are repeated.
///
/// Failure: kCorrupt for trees that exceed a limit, and for keys of dictionaries that are neither integers,
/// texts nor objects, or occur twice.
Result<Value> tree_of(const Graph& graph, NodeId root);

}  // namespace cohort::interchange
