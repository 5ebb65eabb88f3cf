"""Questions where whole users are protected: who owns a joined row, what each owner adds, and the release."""
