"""The experiments screen."""
