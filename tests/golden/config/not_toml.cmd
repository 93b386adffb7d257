config check not_toml.toml
