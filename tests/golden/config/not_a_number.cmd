config check not_a_number.toml
