"""What formats share: the pass before the plan, lines, XML events, cells; from texts to rows."""
