"""`triage logs` and what it is made of."""
