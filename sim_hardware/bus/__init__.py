"""Serial lines: paced at their real baud, half duplex, and faulty on demand."""
