# SPDX-License-Identifier: Apache-2.0
"""Tables of the database."""
