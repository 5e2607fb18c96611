"""A double of Kuryr's registry of components: the same names, flags and order of calls."""


class HealthRegister:
    instance = None

    def __init__(self):
        self.registry = []

    @classmethod
    def get_instance(cls):
        cls.instance = cls.instance or cls()
        return cls.instance

    def register(self, handler):
        self.registry.append(handler)


class HealthHandler:
    def __init__(self):
        self.alive, self.ready, self.exception = True, True, None
        HealthRegister.get_instance().register(self)

    def set_liveness(self, alive, exc=None):
        self.alive, self.exception = alive, exc or self.exception

    def set_readiness(self, ready):
        self.ready = ready

    def is_alive(self):
        return self.alive

    def is_ready(self, *args):
        return self.ready

    def get_last_exception(self):
        return self.exception
