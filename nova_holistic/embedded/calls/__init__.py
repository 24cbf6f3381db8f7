# SPDX-License-Identifier: Apache-2.0
"""The operations of users and operators on an embedded cloud, as mixins of
``EmbeddedCloud``."""
