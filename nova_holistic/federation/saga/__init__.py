# SPDX-License-Identifier: Apache-2.0
"""The commit of a choice in several children."""
