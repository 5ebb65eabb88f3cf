"""Workflow: what flows where in a process, and what a change of its inputs costs. Nothing here reads private rows."""

from sordino.workflow.arrow import (
    Arrow,
    are_independent,
    compose,
    injection,
    list_map,
    pair,
    parallel,
    product,
    projection,
    sequential,
)
from sordino.workflow.bound import Bound
from sordino.workflow.coequaliser import Coequaliser, coequalise
from sordino.workflow.component_constants import Constants
from sordino.workflow.distance_map import DistanceMap, declared, linear, piecewise_linear, table
from sordino.workflow.distances import Distances, FiniteDistances, ListOf, Reals, SumOf, TupleOf
from sordino.workflow.family import Family
from sordino.workflow.finite_space import FiniteSpace
from sordino.workflow.flow_table import FlowCell, FlowTable
from sordino.workflow.front import emd_front
from sordino.workflow.linear_space import LinearSpace, combine_coordinates
from sordino.workflow.parallel_rules import parallel_with_identity
from sordino.workflow.process import Process
from sordino.workflow.process_model import Input, Send, Task
from sordino.workflow.space import Space, list_space, product_space, sum_space
from sordino.workflow.transport import bottleneck, emd, emd_1d, lifted_epsilon
from sordino.workflow.workflow_cost import Workflow, WorkflowCost, WorkflowStep

__all__ = [
    "Arrow",
    "Bound",
    "Coequaliser",
    "Constants",
    "DistanceMap",
    "Distances",
    "Family",
    "FiniteDistances",
    "FiniteSpace",
    "FlowCell",
    "FlowTable",
    "Input",
    "LinearSpace",
    "ListOf",
    "Process",
    "Reals",
    "Send",
    "Space",
    "SumOf",
    "Task",
    "TupleOf",
    "Workflow",
    "WorkflowCost",
    "WorkflowStep",
    "are_independent",
    "bottleneck",
    "coequalise",
    "combine_coordinates",
    "compose",
    "declared",
    "emd",
    "emd_1d",
    "emd_front",
    "injection",
    "lifted_epsilon",
    "linear",
    "list_map",
    "list_space",
    "pair",
    "parallel",
    "parallel_with_identity",
    "piecewise_linear",
    "product",
    "product_space",
    "projection",
    "sequential",
    "sum_space",
    "table",
]
