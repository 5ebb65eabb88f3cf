"""What the demo shows: public data, questions about them, plots and one HTML page."""
