# SPDX-License-Identifier: Apache-2.0
"""Tasks, their owners, and the steps in which groups are changed."""
