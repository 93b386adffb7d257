checkpoint --help
