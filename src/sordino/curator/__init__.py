"""Where data, policy, ledger and questions meet."""
