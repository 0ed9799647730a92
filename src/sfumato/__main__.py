"""Lets ``python -m sfumato`` do what the command ``sfumato`` does."""

from sfumato.cli.main import main

if __name__ == "__main__":
    main()
