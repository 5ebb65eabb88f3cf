"""What people see of plain values: tables, charts, data frames, progress bars. Knows no data and no privacy."""
