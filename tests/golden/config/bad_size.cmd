config check bad_size.toml
