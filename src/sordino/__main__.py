"""`python -m sordino`: the command line, where its program is not on the path."""

from sordino.cli import main

if __name__ == "__main__":
    main()
