"""Motion libraries: folders of column files that are fast to open and read."""
