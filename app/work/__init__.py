"""What runs in worker processes: plain functions of the engine, without Qt."""
