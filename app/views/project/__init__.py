"""The project screen: which domain, problems and policies there are, and whether they fit."""
