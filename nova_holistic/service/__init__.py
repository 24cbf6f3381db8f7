# SPDX-License-Identifier: Apache-2.0
"""The process of an engine: work queues, workers, periodic tasks, RPC server
and listener to notifications."""
