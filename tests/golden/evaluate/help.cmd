evaluate --help
