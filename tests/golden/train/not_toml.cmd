train not_toml.toml
