"""Experiments: the papers' comparisons, from a configuration to tables and figures."""
