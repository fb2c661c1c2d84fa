"""Keys and certificates of a cluster: who its nodes are, made and checked. Knows neither broker nor daemon."""
