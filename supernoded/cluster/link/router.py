"""Who hears what: topic filters with their handlers, and the subscriptions that follow from them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from supernoded.cluster.link.fabric import Message, SubscribeDeniedError
from supernoded.cluster.topics import PayloadError, matches
from supernoded.errors import SessionError
from supernoded.supervisor import BUGS, describe

Handler = Callable[[Message], None]
Subscribe = Callable[[list[str]], Awaitable[None]]

KEYS = 1000  # of what was said; a topic that is heard is named by others, so it could be any number
TOPICS = 20_000  # whose handlers are remembered: what a site of 4,096 nodes says again and again


class Once:
    """Says a trouble once, until it is over."""

    def __init__(self, log: logging.Logger) -> None:
        self._log, self._said = log, set[str]()

    def say(self, key: str, text: str) -> None:
        """Log an error, unless `key` is in trouble already."""
        if key not in self._said and len(self._said) < KEYS:
            self._said.add(key)
            self._log.error("%s", text)

    def over(self, key: str) -> None:
        """`key` is well; log that, if it was not."""
        if key in self._said:
            self._said.discard(key)
            self._log.info("%s: well again", key)


class Router:
    """Filters and handlers. They outlive the links; each link subscribes anew."""

    def __init__(self, once: Once) -> None:
        self._once = once
        self._handlers: dict[str, list[Handler]] = {}
        self._by_topic: dict[str, tuple[Handler, ...]] = {}  # as found by the filters, until these change
        self._added = asyncio.Event()
        self._subscribed: set[str] = set()
        self._dropped: dict[str, None] = {}  # filters that nobody wants any more and this link still has
        self.refused = 0  # messages that were not what their topic promises

    def on(self, filter_: str, handler: Handler) -> None:
        """See `Session.on`."""
        self._handlers.setdefault(filter_, []).append(handler)
        self._by_topic.clear()
        self._added.set()

    def off(self, filter_: str, handler: Handler) -> None:
        """See `Session.off`."""
        handlers = self._handlers.get(filter_, [])
        if handler in handlers:
            handlers.remove(handler)
            self._by_topic.clear()
            if not handlers:
                del self._handlers[filter_]
                self._dropped[filter_] = None
                self._added.set()

    def forget(self) -> None:
        """The link is gone: the next one starts without subscriptions."""
        self._subscribed.clear()

    async def subscribe(self, subscribe: Subscribe) -> None:
        """Subscribe to each filter that is new. One that is refused is said once and harms no other."""
        self._added.clear()
        for filter_ in [name for name in self._handlers if name not in self._subscribed]:
            self._subscribed.add(filter_)
            try:
                await subscribe([filter_])
            except SubscribeDeniedError as error:
                self._once.say(filter_, str(error))
            else:
                self._once.over(filter_)

    async def unsubscribe(self, unsubscribe: Subscribe) -> None:
        """End what nobody wants any more; a session that the broker keeps may have it from an earlier link, too."""
        dropped = [name for name in self._dropped if name not in self._handlers]
        self._dropped.clear()
        if dropped:
            self._subscribed.difference_update(dropped)
            await unsubscribe(dropped)

    async def added(self) -> None:
        """Wait until a filter has come or gone since the last `subscribe`."""
        await self._added.wait()

    def dispatch(self, message: Message) -> None:
        """Call the handlers. What is not a payload of its topic is counted and said once per topic."""
        for handler in self._find(message.topic):
            self._call(handler, message)

    def _find(self, topic: str) -> tuple[Handler, ...]:
        found = self._by_topic.get(topic)
        if found is None:
            if len(self._by_topic) >= TOPICS:
                self._by_topic.clear()
            wanted = (handlers for filter_, handlers in self._handlers.items() if matches(filter_, topic))
            found = self._by_topic[topic] = tuple(handler for handlers in wanted for handler in handlers)
        return found

    def _call(self, handler: Handler, message: Message) -> None:
        try:
            handler(message)
        except SessionError:
            raise
        except BUGS as error:  # what somebody has left on the broker must not end each new link
            self.refused += 1
            text = str(error) if isinstance(error, PayloadError) else describe(error)
            self._once.say(f"heard {message.topic}", f"{message.topic}: {text}; such messages are ignored and counted")
