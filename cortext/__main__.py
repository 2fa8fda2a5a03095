"""`python -m cortext` is the `cortext` command."""

from cortext.cli.main import main

if __name__ == "__main__":
    main()
