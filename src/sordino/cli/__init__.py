"""The command line: `sordino demo | select | quantile | compare | audit`."""

from sordino.cli.app import main

__all__ = ["main"]
