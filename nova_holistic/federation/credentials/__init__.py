# SPDX-License-Identifier: Apache-2.0
"""A parent sends requests to a child with the credentials of a user, and never
with its own."""
