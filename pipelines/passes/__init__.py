"""hirc's passes, one a file of its name; `find_pass` loads one when it is named."""
