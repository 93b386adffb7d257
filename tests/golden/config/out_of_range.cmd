config check out_of_range.toml
