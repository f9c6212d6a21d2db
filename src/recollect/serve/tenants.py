"""The engines of one server, one for each tenant and actor, on one store and one model; the least used are dropped."""

from __future__ import annotations

import threading
from collections import OrderedDict

from ..agents.access import Caller, local
from ..engine import Engine
from ..types import Scope

MOST = 256  # engines that are kept ready


class Tenants:
    def __init__(self, engine: Engine) -> None:
        self.first = engine
        self.settings = engine.settings
        self.gatekeeper = engine.gatekeeper()
        self._lock = threading.Lock()
        self._tenants: OrderedDict[str, Engine] = OrderedDict()
        self._actors: OrderedDict[tuple[str, str, bool], Engine] = OrderedDict()

    def local(self, actor: str = "local") -> Caller:
        """The person at this machine."""
        home = Scope(user=self.settings.user, project=self.settings.project)
        return local(self.settings.tenant, actor, home)

    def engine(self, caller: Caller) -> Engine:
        """The engine of the caller's tenant, acting in their name."""
        key = caller.tenant, caller.actor, caller.model
        with self._lock:
            if key not in self._actors:
                self._actors[key] = self._of(caller.tenant).for_caller(actor=caller.actor, model=caller.model)
                while len(self._actors) > MOST:
                    self._actors.popitem(last=False)
            self._actors.move_to_end(key)
            return self._actors[key]

    def of(self, tenant: str) -> Engine:
        """The engine of a tenant, for the server's own work."""
        with self._lock:
            return self._of(tenant)

    def _of(self, tenant: str) -> Engine:
        if tenant == self.settings.tenant:
            return self.first
        if tenant not in self._tenants:
            self._tenants[tenant] = self.first.for_caller(tenant=tenant)
            while len(self._tenants) > MOST:
                self._tenants.popitem(last=False)[1].close()
        self._tenants.move_to_end(tenant)
        return self._tenants[tenant]

    def close(self) -> None:
        """Write what the other tenants have pending; the first engine belongs to whoever opened it."""
        with self._lock:
            for engine in self._tenants.values():
                engine.close()
