# SPDX-License-Identifier: Apache-2.0
"""A complete OpenStack cloud of processes on one machine, on loopback only.

``python -m tools.cloud up --hosts 50 --dir DIR`` starts the cloud from the
packages that pip and the distribution installed. ``down`` ends it, and ``env``
prints the environment of the ``openstack`` command. All files of the cloud are
below one directory.
"""
