# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of requests and responses: one module per noun."""
