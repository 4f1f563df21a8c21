"""An experiment's tables and figures as files: HTML, CSV, LaTeX, SVG and PDF."""
