train fine.toml --engine ucx
