# SPDX-License-Identifier: Apache-2.0
"""Python client of the group API."""
