config check not_utf8.toml
