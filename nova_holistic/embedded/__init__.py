# SPDX-License-Identifier: Apache-2.0
"""A whole Nova and Placement in one process.

Nova's test fixtures run every service as green threads. The first import
decides whether locks and thread-local data are green, so the patching is done
here, before anything else of this package is loaded.
"""

import logging
import warnings

# Nova logs and eventlet warns that eventlet is deprecated, before a caller
# could have set up logging: these messages do not belong on the terminal.
logging.getLogger('nova').addHandler(logging.NullHandler())

with warnings.catch_warnings():
    warnings.simplefilter('ignore')
    import nova.tests.functional  # noqa: F401
