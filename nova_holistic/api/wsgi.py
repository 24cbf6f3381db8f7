# SPDX-License-Identifier: Apache-2.0
"""``application``, for uwsgi, mod_wsgi and any other WSGI server.

The application is created when the module is imported, so that an invalid
configuration is reported when the server starts.
"""

from nova_holistic.api import deploy

application = deploy.build()
