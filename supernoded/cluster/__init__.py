"""What a daemon says to the others: the MQTT session, its outbox, presence."""
