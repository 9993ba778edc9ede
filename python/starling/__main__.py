"""``python -m starling`` is the command ``starling``."""

from starling.cli import main

if __name__ == "__main__":
    main()
