# SPDX-License-Identifier: Apache-2.0
"""How a parent reaches a child with the credentials of a user, and never with
its own."""
