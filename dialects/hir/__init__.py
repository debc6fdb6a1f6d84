"""The `hir` dialect: the host side of a tensor program. docs/host-ir.md is its reference.

One operation a file, each with its verifier. `kinds` lists what the compute operations compute,
`element_types` what buffers hold, `domain` and `layout` how buffers lie in memory; `builder` writes
programs in Python.
"""

from ..mlir import ir, load_dialect
from .alias import AliasOp
from .allocate import AllocateOp
from .argument import ArgumentOp
from .barrier import BarrierOp
from .binary import BinaryOp
from .call import CallOp
from .coalesce import CoalesceOp
from .communicate import CommunicateOp
from .communicator import CommunicatorOp
from .current_stream import CurrentStreamOp
from .deallocate import DeallocateOp
from .dialect import Hir
from .expand import ExpandOp
from .find_loops import FindLoopsOp
from .for_loop import ForOp
from .get import GetOp
from .has_library import HasLibraryOp
from .host_call import HostCallOp
from .if_branch import IfOp
from .kernel import KernelOp
from .launch import LaunchOp
from .launcher import LauncherOp
from .library_convolution import LibraryConvolutionOp
from .library_matmul import LibraryMatmulOp
from .linear import LinearOp
from .matmul import MatmulOp
from .matrix_element import MatrixElementOp
from .output import OutputOp
from .permute import PermuteOp
from .program import ProgramOp
from .put import PutOp
from .rank import RankOp
from .record import RecordOp
from .reduce import ReduceOp
from .reduce_loops import ReduceLoopsOp
from .reshape import ReshapeOp
from .reshard import ReshardOp
from .result import ResultOp
from .reuse import ReuseOp
from .run_launcher import RunLauncherOp
from .scan_loop import ScanLoopOp
from .scatter import ScatterOp
from .select import SelectOp
from .set import SetOp
from .set_stream import SetStreamOp
from .shares_memory import SharesMemoryOp
from .slice import SliceOp
from .stop_loop import StopLoopOp
from .stream import StreamOp
from .synchronize import SynchronizeOp
from .ternary import TernaryOp
from .unary import UnaryOp
from .value_types import CommunicatorType, EventType, RequestType, ResultsType, StreamType
from .wait import WaitOp
from .wait_event import WaitEventOp
from .wait_signal import WaitSignalOp
from .wait_stream import WaitStreamOp

__all__ = [
    "AliasOp",
    "AllocateOp",
    "ArgumentOp",
    "BarrierOp",
    "BinaryOp",
    "CallOp",
    "CoalesceOp",
    "CommunicateOp",
    "CommunicatorOp",
    "CommunicatorType",
    "CurrentStreamOp",
    "DeallocateOp",
    "EventType",
    "ExpandOp",
    "FindLoopsOp",
    "ForOp",
    "GetOp",
    "HasLibraryOp",
    "Hir",
    "HostCallOp",
    "IfOp",
    "KernelOp",
    "LaunchOp",
    "LauncherOp",
    "LibraryConvolutionOp",
    "LibraryMatmulOp",
    "LinearOp",
    "MatmulOp",
    "MatrixElementOp",
    "OutputOp",
    "PermuteOp",
    "ProgramOp",
    "PutOp",
    "RankOp",
    "RecordOp",
    "ReduceLoopsOp",
    "ReduceOp",
    "RequestType",
    "ReshapeOp",
    "ReshardOp",
    "ResultOp",
    "ResultsType",
    "ReuseOp",
    "RunLauncherOp",
    "ScanLoopOp",
    "ScatterOp",
    "SelectOp",
    "SetOp",
    "SetStreamOp",
    "SharesMemoryOp",
    "SliceOp",
    "StopLoopOp",
    "StreamOp",
    "StreamType",
    "SynchronizeOp",
    "TernaryOp",
    "UnaryOp",
    "WaitEventOp",
    "WaitOp",
    "WaitSignalOp",
    "WaitStreamOp",
    "load",
]


def load(context: ir.Context) -> None:
    """Makes the dialect known to `context`; does nothing the second time."""
    load_dialect(Hir, context)
