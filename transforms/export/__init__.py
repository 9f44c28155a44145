"""A finished run as other files: which rows, their tags and links; each form is in `formats`."""
