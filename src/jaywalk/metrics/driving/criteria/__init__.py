"""The rules of the public protocols, one file each: pure functions of what a record holds."""
