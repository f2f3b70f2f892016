"""Starts Ironic as its own command does, with one pure function remembered.

At each look at a BMC, Ironic derives a key of its session cache from the
password with 600,000 rounds of PBKDF2: half a second of a core, always with the
same result, some fifty times in the life of a host. A machine room does not
notice; twenty simulated hosts on two cores do nothing else. The results are
kept here. Nothing in Ironic is changed, and nothing it computes is different.
"""

import functools
import hashlib
import sys

hashlib.pbkdf2_hmac = functools.lru_cache(maxsize=4096)(hashlib.pbkdf2_hmac)

try:
    from ironic.command.singleprocess import main  # noqa: E402
except ModuleNotFoundError:  # the name that it had in Ironic 24
    from ironic.cmd.singleprocess import main  # noqa: E402

if __name__ == '__main__':
    sys.exit(main())
