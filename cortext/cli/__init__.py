"""The command line: a client of the public package, as any other program."""
