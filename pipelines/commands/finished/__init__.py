"""Commands on finished runs: their report, comparison, preview, export and stream."""
