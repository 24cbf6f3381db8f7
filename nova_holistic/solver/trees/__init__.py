# SPDX-License-Identifier: Apache-2.0
"""Resources that the providers of a host give in groups."""
