"""The networks that are checked, in plain torch at any size; they need torch alone."""
