# SPDX-License-Identifier: Apache-2.0
"""The parts of a request that all operations have in common: body, query,
version, entity tags and idempotency key."""
