"""One operation, or one family, a file: importing a module registers its functions."""
