# SPDX-License-Identifier: Apache-2.0
"""A real Cinder in this process, without Nova."""
