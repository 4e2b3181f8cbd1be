"""A new rule from a few answers: the rule, its cases, and the proof that both hold."""
