"""`python -m coldaisle`, where the script is not on PATH."""

from coldaisle.cli import main

if __name__ == "__main__":
    main()
