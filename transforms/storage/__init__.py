"""Files and bytes, on a disk or in an object store."""
