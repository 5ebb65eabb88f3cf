"""Arrow Flight SQL: ADBC and JDBC drivers ask private questions with a token as bearer."""
