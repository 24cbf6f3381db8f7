# SPDX-License-Identifier: Apache-2.0
"""A whole OpenStack cloud of processes on one machine, on loopback only.

``python -m tools.cloud up --hosts 50 --dir DIR`` starts it, from what pip and
the distribution installed; ``down`` ends it, ``env`` prints what the
``openstack`` command needs. All that it writes is below one directory.
"""
