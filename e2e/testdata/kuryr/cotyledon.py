"""A double of the part of cotyledon that the CNI daemon derives its services from."""


class Service:
    def __init__(self, worker_id):
        self.worker_id = worker_id
