"""The public names, one by one. A change of these lists is a decision: a name that leaves breaks somebody's program,
and one that comes has to be kept."""

from __future__ import annotations

import importlib

import pytest

import sordino

PUBLIC = {
    "sordino": """
        BudgetError CalibrationError Curator Distance EngineError Guarantee LedgerError Loss
        MissingExtraError Norm ParameterError Policy PrivateDataError Profile ProofError Release Remote Secret
        Session SmoothBound SordinoError SuspendedError UnsupportedError __version__
        add_ladder_noise add_noise add_noise_by_levels add_remove_row advise audit compare connect
        core curator engines error_quantile expected_error flip_edge graphs ladder_law learn ledger
        logs mechanisms noise_law noise_radius percentile_question quantile quantile_law replace_row
        risk sampling select select_record_at_percentile selection_law sensitivity series server sql
        stats testing top_k workflow
    """,
    "sordino.audit": """
        Attack BoundWitness Distinguisher LatticeLaw LogLaw ProfileCheck Proof Witness attack
        check_profile check_smooth prove zoo
    """,
    "sordino.curator": """
        Curator OWNER Session connect
    """,
    "sordino.engines": """
        Column ColumnType Engine FileEngine KeepingSnapshot Reference Snapshot Table connect write_double
    """,
    "sordino.graphs": """
        Graph METRICS Metric count count_law ego_betweenness local_sensitivity_profile max_codegree
        project read_nodes top_k triangles_per_node
    """,
    "sordino.learn": """
        Continuous DecisionTreeClassifier Discrete Forest RandomForestClassifier Schema
        SpendingWarning Tree as_schema export_text plot_tree
    """,
    "sordino.ledger": """
        Account Amount Anchor Event GaussianPart LaplacePart Ledger Limit NothingReleased Reservation
        StoredRelease TABLE_KINDS compose_batch write_question_key
    """,
    "sordino.logs": """
        Chains KnownChains Operations PipelineResult correlate correlate_secret count_operations parse_lines
        run_pipeline
    """,
    "sordino.risk": """
        CountNoise Goal GridPosterior Guess HistogramModel JointGuess LaplacePosterior NormalPrior NumberModel Prior
        RangePrior RiskAdvice SetPrior StepNoise TradeOff UnknownPrior advise_epsilon advise_for_rows
        bound_belief bound_guessing cap_by_others compose_releases guessing_precision
        limit_belief make_prior
        posterior_expected posterior_given_count posterior_given_output posterior_given_outputs
    """,
    "sordino.sql": """
        FilterPrecision Sensitivity advise_precision ranges sensitivity workflow_sensitivity
    """,
    "sordino.series": """
        Block BlockTree ChainRow CombinedNoise DoublingTree EventSums Exclusion Kalman
        MoreUses RenewableBudget RevealPlan ScaleAdvice ScaledRelease SeriesAdvice SeriesRelease
        Smoothed SquareRoot StreamBound SubtractionTree TimedRow advise advise_scale
        count_uses join_by_user join_rows make_consistent noise_variance_of plan_reveal
        quantile_sensitivity reveal_scale spend_renewable stream_sensitivity
    """,
    "sordino.testing": """
        check_backend check_mechanism check_noise prove_mechanism prove_noise seeded
    """,
    "sordino.workflow": """
        Arrow Bound Coequaliser Constants DistanceMap Distances Family FiniteDistances FiniteSpace
        FlowCell FlowTable Input LinearSpace ListOf Process Reals Send Space SumOf Task TupleOf
        Workflow WorkflowCost WorkflowStep are_independent bottleneck coequalise combine_coordinates
        compose declared emd emd_1d emd_front injection lifted_epsilon linear list_map list_space
        pair parallel parallel_with_identity piecewise_linear product product_space projection
        sequential sum_space table
    """,
}


@pytest.mark.parametrize(("module", "names"), PUBLIC.items(), ids=PUBLIC)
def test_the_public_names_are_these(module, names):
    assert sorted(importlib.import_module(module).__all__) == sorted(names.split())


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_resolves_and_is_listed(module):
    package = importlib.import_module(module)
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert len(set(package.__all__)) == len(package.__all__)
    assert set(package.__all__) <= set(dir(package)) | {"zoo"}  # the zoo loads when first visited


def test_a_name_that_does_not_exist_is_no_attribute():
    with pytest.raises(AttributeError, match="no attribute 'selekt'"):
        _ = sordino.selekt
