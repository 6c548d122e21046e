"""Motion libraries: a folder of columns, quick to open and to read from."""
