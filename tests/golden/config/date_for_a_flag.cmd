config check date_for_a_flag.toml
