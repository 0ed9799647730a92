"""Lets ``python -m sfumato`` do what the command ``sfumato`` does."""

if __name__ == "__main__":  # workers of a server begin with this file, too, and need nothing of the command line
    from sfumato.cli.main import main

    main()
