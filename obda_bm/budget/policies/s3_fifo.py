"""S3-FIFO: a small queue on trial, a main queue, and a memory of what was turned away ([YZW23])."""

from __future__ import annotations

from collections import OrderedDict, deque

SMALL_SHARE = 0.1
MOST_USES = 3


class S3Fifo:
    def __init__(self, memory: int) -> None:
        self._small: deque[int] = deque()
        self._main: deque[int] = deque()
        self._ghosts: OrderedDict[int, None] = OrderedDict()
        self._uses: dict[int, int] = {}
        self._value: dict[int, int] = {}
        self._small_size = max(1, int(memory * SMALL_SHARE))
        self._ghost_size = memory

    def admit(self, key: int, value: int) -> None:
        self._uses[key] = 0
        self._value[key] = value
        known = value in self._ghosts
        self._ghosts.pop(value, None)
        (self._main if known else self._small).append(key)

    def touch(self, key: int) -> None:
        self._uses[key] = min(self._uses[key] + 1, MOST_USES)

    def evict(self) -> int:
        while True:
            crowded = len(self._small) > self._small_size or not self._main
            victim = self._from_small() if crowded else self._from_main()
            if victim is not None:
                return victim

    def _from_small(self) -> int | None:
        """The oldest on trial goes, unless it has been used: then it moves to the main queue."""
        key = self._small.popleft()
        if self._uses[key] > 0:
            self._uses[key] = 0
            self._main.append(key)
            return None
        self._ghosts[self._value[key]] = None
        if len(self._ghosts) > self._ghost_size:
            self._ghosts.popitem(last=False)
        return self._forget(key)

    def _from_main(self) -> int | None:
        """The oldest goes, unless it has been used: then it queues again with one use less."""
        key = self._main.popleft()
        if self._uses[key] > 0:
            self._uses[key] -= 1
            self._main.append(key)
            return None
        return self._forget(key)

    def _forget(self, key: int) -> int:
        del self._uses[key], self._value[key]
        return key
