"""The neural word aligner: encoders, alignment heads, and how workers hold them."""
