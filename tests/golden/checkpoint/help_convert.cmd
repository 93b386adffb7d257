checkpoint convert --help
