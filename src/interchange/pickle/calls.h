#pragma once

#include "interchange/pickle/globals.h"

// The functions of the tables of globals: each makes the value that a function of Python would return, and
// refuses arguments that this function does not take.

namespace cohort::interchange {

/// OrderedDict(), OrderedDict([[key, value], …]).
Result<Node> make_ordered_dict(Graph& graph, std::span<const NodeId> arguments);
/// Counter(), Counter({key: count, …}).
Result<Node> make_counter(Graph& graph, std::span<const NodeId> arguments);
/// set([…]) as a list.
Result<Node> make_set(Graph& graph, std::span<const NodeId> arguments);
/// bytes(), bytearray(), bytearray(bytes).
Result<Node> make_bytes(Graph& graph, std::span<const NodeId> arguments);
/// encode(text, 'latin1'): how protocol 2 writes bytes.
Result<Node> encode_latin1(Graph& graph, std::span<const NodeId> arguments);
/// Size((2, 3)) as a tuple.
Result<Node> make_size(Graph& graph, std::span<const NodeId> arguments);
/// getattr(enumeration, 'NAME'), for enumerations of the table and nothing else.
Result<Node> member_of_enum(Graph& graph, std::span<const NodeId> arguments);

/// _rebuild_tensor(storage, offset, shape, strides).
Result<Node> rebuild_tensor(Graph& graph, std::span<const NodeId> arguments);
/// … and requires_grad, hooks and metadata, which must be empty.
Result<Node> rebuild_tensor_v2(Graph& graph, std::span<const NodeId> arguments);
/// … with an element type before the metadata, for a storage without one.
Result<Node> rebuild_tensor_v3(Graph& graph, std::span<const NodeId> arguments);
/// _rebuild_parameter(tensor, requires_grad, hooks): the tensor. Attributes of a parameter are not kept.
Result<Node> rebuild_parameter(Graph& graph, std::span<const NodeId> arguments);

}  // namespace cohort::interchange
