# SPDX-License-Identifier: Apache-2.0
"""``application``, for uwsgi, mod_wsgi and any other WSGI server.

It is made when the module is imported, so that a bad configuration is told
when the server starts.
"""

from nova_holistic.api import deploy

application = deploy.build()
