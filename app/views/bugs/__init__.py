"""The bug browser: a table of bugs, and for one of them what went wrong, where and why."""
