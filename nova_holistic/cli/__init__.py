# SPDX-License-Identifier: Apache-2.0
"""The commands and services of this project, except the plugin of
``openstack``.

``main`` is ``nova-holistic``, and ``manage``, ``status``, ``engine`` and
``scheduler`` are the programs ``nova-holistic-*``.
"""

import warnings

# oslo.messaging imports oslo.service, which imports eventlet, and eventlet
# warns that it is deprecated. No code of this project uses it. Appended, so
# that -W and PYTHONWARNINGS take precedence.
warnings.filterwarnings(
    'ignore', r'\s*Eventlet is deprecated', append=True)
