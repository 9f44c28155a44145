"""Code that formats share: the pass before the plan, lines, XML events, and rows from texts."""
