"""The bug browser: a table of bugs, and the details of one: plans, state, costs, evidence."""
