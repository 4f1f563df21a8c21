"""Qt item models: what tables and trees show, without widgets."""
