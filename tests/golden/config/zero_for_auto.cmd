config check zero_for_auto.toml
