train absent.toml
