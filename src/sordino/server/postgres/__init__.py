"""PostgreSQL's wire protocol, version 3: psql, drivers and BI tools ask private questions with a token as password."""
