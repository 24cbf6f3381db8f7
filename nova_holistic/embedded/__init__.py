# SPDX-License-Identifier: Apache-2.0
"""A complete Nova and Placement in one process.

Nova's test fixtures run every service as green threads. The import of
``nova.tests.functional`` patches locks and thread-local data for this. The
import is here, so that it precedes all other modules of this package.
"""

import logging
import warnings

# During the import, Nova and eventlet report that eventlet is deprecated. No
# caller can have configured logging yet, so that the messages would be printed
# on the terminal.
logging.getLogger('nova').addHandler(logging.NullHandler())

with warnings.catch_warnings():
    warnings.simplefilter('ignore')
    import nova.tests.functional  # noqa: F401
