config check written_twice.toml
