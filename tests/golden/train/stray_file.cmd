train fine.toml extra.toml
