"""Code that formats share: the pass before the plan, lines, XML events, rows from texts, tables."""
