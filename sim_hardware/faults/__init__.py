"""The catalogue of faults: what can befall a rig, how it is begun and ended, and how one sees by device bytes that it really shows."""
