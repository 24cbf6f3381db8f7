# SPDX-License-Identifier: Apache-2.0
"""Creates the servers of a planned group, with the session of the user."""
