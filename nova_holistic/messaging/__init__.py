# SPDX-License-Identifier: Apache-2.0
"""The RPC API of engines: client, arguments, results, errors and transport."""
