"""Reads and writes safetensors files: a length, a JSON header, the bytes. Needs torch and nothing else."""

import ctypes
import json
import struct

import torch

DTYPES = {
    "F32": torch.float32, "F64": torch.float64, "BF16": torch.bfloat16, "F16": torch.float16, "I8": torch.int8,
    "I16": torch.int16, "I32": torch.int32, "I64": torch.int64, "U8": torch.uint8, "BOOL": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def read(path):
    """Returns (tensors by name, metadata)."""
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = bytearray(file.read())
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        dtype, shape = DTYPES[entry["dtype"]], entry["shape"]
        # A copy, because the bytes of a file may not be aligned for the type.
        tensors[name] = torch.empty(shape, dtype=dtype)
        ctypes.memmove(tensors[name].data_ptr(), bytes(data[first:last]), last - first)
    return tensors, metadata


def write(path, tensors, metadata=None):
    header, pieces, at = {"__metadata__": metadata or {}}, [], 0
    for name, tensor in tensors.items():
        tensor = tensor.detach().contiguous()
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + size]}
        pieces.append(ctypes.string_at(tensor.data_ptr(), size))
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(pieces))
