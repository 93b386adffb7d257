config show --help
