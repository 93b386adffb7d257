config check wrong_type.toml
