config check list_of_numbers.toml
