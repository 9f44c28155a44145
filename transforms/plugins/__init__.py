"""What other packages add: found by name through entry points, checked, loaded, known by hash."""
