"""`python -m diskwright` is the command."""

from diskwright.cli import main

main()
