# SPDX-License-Identifier: Apache-2.0
"""``openstack holistic ...``: a plugin of python-openstackclient."""
