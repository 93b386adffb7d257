config check too_large_number.toml
