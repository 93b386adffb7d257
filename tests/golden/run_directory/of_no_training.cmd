config check launching.toml
