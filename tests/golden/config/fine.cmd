config check fine.toml
