"""Route XML and the public scenario formats."""
