run --engine ucx true
