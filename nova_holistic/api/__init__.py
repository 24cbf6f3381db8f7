# SPDX-License-Identifier: Apache-2.0
"""The HTTP API of groups and plans: a WSGI application.

``routes`` lists all operations. ``app`` dispatches requests to the functions
of ``handlers``.
"""
