"""What all readers share: lines, XML events, cells; from texts and problems to rows."""
