# SPDX-License-Identifier: Apache-2.0
"""The credentials for requests to children. A parent uses those of the user,
and never its own."""
