"""SQL: private counts and sums over joins."""
