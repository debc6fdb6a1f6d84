"""The command line: thin programs that parse arguments, call the compiler and render."""
