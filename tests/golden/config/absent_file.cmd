config check absent.toml
