"""The ``groundmetric`` command as ``python -m groundmetric``."""

from .cli import main

if __name__ == "__main__":
    main()
