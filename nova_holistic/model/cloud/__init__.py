# SPDX-License-Identifier: Apache-2.0
"""Hosts, providers and domains of the cloud."""
