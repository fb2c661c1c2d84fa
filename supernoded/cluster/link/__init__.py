"""The one link to the broker: session, outbox, embedded broker."""
