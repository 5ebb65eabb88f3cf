"""Numbers of whole tables are kept as long as the data is the same, and no longer."""

import sordino as sd

SQL = "SELECT COUNT(*) FROM r JOIN s ON r.a = s.a"


def test_what_was_kept_of_other_rows_is_not_used(tmp_path):
    tables = {name: {"columns": {"a": {"type": "integer"}}} for name in ("r", "s")}
    for name in tables:
        (tmp_path / f"{name}.csv").write_text("a\n1\n2\n")
    scales = []
    with sd.connect(tmp_path, policy={"version": 1, "dataset": "d", "tables": tables}) as curator:
        for text in ("a\n1\n2\n", "a\n1\n1\n1\n", "a\n1\n2\n"):
            (tmp_path / "s.csv").write_text(text)
            told = [curator.explain(SQL, 1.0).reveal() for _ in range(2)]
            scales += [one["numbers"][0]["noise_scale"] for one in told]
    assert scales[0] == scales[1] == scales[4] == scales[5] < scales[2] == scales[3]
