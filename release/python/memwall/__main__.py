"""python -m memwall is memwall."""

import subprocess
import sys

from . import binary

sys.exit(subprocess.call([binary(), *sys.argv[1:]]))
