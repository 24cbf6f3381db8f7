# SPDX-License-Identifier: Apache-2.0
"""The rules of Nova's filters and request filters, one module for each of
them."""
