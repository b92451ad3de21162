"""`python -m obda_bm` is `obda-bm`."""

import sys

from obda_bm.interfaces.cli import main

sys.exit(main())
