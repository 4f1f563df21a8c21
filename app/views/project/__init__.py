"""The project screen: domain, problems and policies, and whether they fit each other."""
