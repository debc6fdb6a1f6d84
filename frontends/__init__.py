"""Other people's programs made into tensor programs, one folder each."""
