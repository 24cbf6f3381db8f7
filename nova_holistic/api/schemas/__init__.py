# SPDX-License-Identifier: Apache-2.0
"""JSON schemas of requests and answers: one module a noun."""
