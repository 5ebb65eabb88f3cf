"""Reading: from a text to a question, or to a refusal that names the clause."""
