"""`sordino examples` writes the files that the pages read, the same ones every time."""

from sordino.demo.example_files import SHOP_POLICY_TEXT


def test_the_files_are_the_same_every_time(sordino, files):
    first, second = sordino("examples", "one"), sordino("examples", "two")
    assert (first.code, first.err, second.code) == (0, "", 0)
    names = [line.removeprefix("one/") for line in first.out.splitlines()]
    assert names == [line.removeprefix("two/") for line in second.out.splitlines()]
    assert {"shop/orders.csv", "shop.yaml", "people.json"} <= set(names)
    for name in names:
        assert (files / "one" / name).read_bytes() == (files / "two" / name).read_bytes()
    assert (files / "one" / "shop.yaml").read_text() == SHOP_POLICY_TEXT


def test_a_folder_that_exists_is_left_alone_unless_told(sordino, files):
    (files / "mine").mkdir()
    refused = sordino("examples", "mine")
    assert refused.code != 0
    assert "mine exists" in refused.err
    assert list((files / "mine").iterdir()) == []
    assert sordino("examples", "mine", "--force").code == 0
    assert (files / "mine" / "votes.csv").exists()


def test_to_write_them_again_is_no_error(sordino, files):
    first = sordino("examples", "one")
    again = sordino("examples", "one")
    assert (again.code, again.out, again.err) == (0, first.out, "")
    (files / "one" / "pay.csv").write_text("mine\n")
    assert sordino("examples", "one").code != 0
    assert (files / "one" / "pay.csv").read_text() == "mine\n"
    assert sordino("examples", "one", "--force").code == 0
    assert (files / "one" / "pay.csv").read_text() != "mine\n"


def test_a_folder_that_cannot_be_made_is_a_refusal(sordino, files):
    refused = sordino("examples", "votes.csv/inside")
    assert refused.code != 0
    assert "cannot be written" in refused.err
