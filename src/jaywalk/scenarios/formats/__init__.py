"""Route XML and public scenario formats."""
