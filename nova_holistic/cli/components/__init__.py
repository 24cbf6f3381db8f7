# SPDX-License-Identifier: Apache-2.0
"""Creates engines, connections and other components from the configuration."""
