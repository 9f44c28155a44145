"""What formats share: the pass before the plan, lines, XML events; from texts to rows."""
