"""The types of values that are neither buffers nor scalars."""

from .dialect import Hir


class StreamType(Hir.Type, name="stream_t"):
    """A queue of device work."""


class EventType(Hir.Type, name="event_t"):
    """A point in a stream."""


class RequestType(Hir.Type, name="request_t"):
    """A communication under way."""


class CommunicatorType(Hir.Type, name="communicator_t"):
    """A team of devices that communicate."""


class ResultsType(Hir.Type, name="results_t"):
    """What a call or a branch gives; hir.result takes the values out."""
