"""BPMN 2.0: the report's kind of process drawn in a modeller, and what is refused by its element."""

from __future__ import annotations

import pytest

from sordino.core import ParameterError, UnsupportedError
from sordino.workflow import Process

HEAD = '<?xml version="1.0"?><bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" name="Survey">'


def task(name, reads=(), makes=(), documentation="", extra="", kind="task"):
    inputs = "".join(
        f"<bpmn:dataInputAssociation id='i{name}{one}'>"
        f"{f'<bpmn:documentation>{text}</bpmn:documentation>' if text else ''}"
        f"<bpmn:sourceRef>{one}</bpmn:sourceRef><bpmn:targetRef>p</bpmn:targetRef></bpmn:dataInputAssociation>"
        for one, text in reads
    )
    outputs = "".join(
        f"<bpmn:dataOutputAssociation id='o{name}{one}'><bpmn:targetRef>{one}</bpmn:targetRef>"
        "</bpmn:dataOutputAssociation>"
        for one in makes
    )
    told = f"<bpmn:documentation>{documentation}</bpmn:documentation>" if documentation else ""
    return (
        f'<bpmn:{kind} id="T{name}" name="{name}">{told}<bpmn:incoming>f</bpmn:incoming>'
        f"{inputs}{outputs}{extra}</bpmn:{kind}>"
    )


SHOP = (
    '<bpmn:process id="P1"><bpmn:startEvent id="s"/><bpmn:sequenceFlow id="f" sourceRef="s" targetRef="Tprotect"/>'
    '<bpmn:dataStoreReference id="D1" name="answers"/><bpmn:dataObjectReference id="R2" dataObjectRef="O2"/>'
    '<bpmn:dataObject id="O2" name="shares"/>'
    + task("protect", [("D1", "adults")], ["R2"], "kind: protect")
    + "</bpmn:process>"
)
LAB = (
    '<bpmn:process id="P2"><bpmn:dataObjectReference id="R3" name="shares"/>'
    '<bpmn:dataObjectReference id="R4" name="total"/>'
    + task("add up", [("R3", "")], ["R4"], "", "<x:PETComputation xmlns:x='urn:pe'/>", kind="serviceTask")
    + "</bpmn:process>"
)
FLOW = '<bpmn:messageFlow id="m" name="shares" sourceRef="Tprotect" targetRef="Tadd up"/>'


def write(tmp_path, shop=SHOP, lab=LAB, flow=FLOW):
    pools = (
        '<bpmn:collaboration id="C"><bpmn:participant id="A1" name="shop" processRef="P1"/>'
        f'<bpmn:participant id="A2" name="lab" processRef="P2"/>{flow}</bpmn:collaboration>'
    )
    path = tmp_path / "survey.bpmn"
    path.write_text(f"{HEAD}{pools}{shop}{lab}</bpmn:definitions>")
    return path


def test_pools_tasks_objects_and_message_flows(tmp_path):
    process = Process.load(write(tmp_path))
    assert process.title == "Survey"
    assert process.parties == ("shop", "lab")
    assert process.disclosure().words() == {"answers, shares": ("O", "H", "S"), "total": ("-", "H", "-")}
    assert process.leaks().cell("total", "answers").conditions == (("adults",),)


def test_the_same_process_as_yaml_gives_the_same_tables(tmp_path):
    yaml = Process.load(
        """
parties: [shop, lab]
tasks:
  - {name: protect, by: shop, kind: protect, from: {answers: adults}, to: [shares]}
  - {name: add up, by: lab, kind: compute_protected, from: [shares], to: [total]}
sends: [{what: shares, from: shop, to: lab}]
"""
    )
    drawn = Process.load(write(tmp_path))
    for table in ("disclosure", "dependencies", "leaks"):
        assert getattr(drawn, table)().to_dict() == getattr(yaml, table)().to_dict()


def test_lanes_are_parties(tmp_path):
    shop = SHOP.replace(
        '<bpmn:startEvent id="s"/>',
        '<bpmn:laneSet id="L"><bpmn:lane id="L1" name="till"><bpmn:flowNodeRef>Tprotect</bpmn:flowNodeRef></bpmn:lane>'
        '<bpmn:lane id="L2" name="office"/></bpmn:laneSet>',
    )
    process = Process.load(write(tmp_path, shop=shop))
    assert process.parties == ("till", "office", "lab")
    assert process.disclosure().cell("answers, shares", "till").text == "O"


def test_lanes_within_lanes_and_events_with_a_message(tmp_path):
    shop = SHOP.replace(
        '<bpmn:startEvent id="s"/>',
        '<bpmn:startEvent id="s"><bpmn:outgoing>f</bpmn:outgoing><bpmn:messageEventDefinition/></bpmn:startEvent>'
        '<bpmn:laneSet id="L"><bpmn:lane id="L0" name="all"><bpmn:flowNodeRef>Tprotect</bpmn:flowNodeRef>'
        '<bpmn:childLaneSet><bpmn:lane id="L1" name="till"><bpmn:flowNodeRef>Tprotect</bpmn:flowNodeRef></bpmn:lane>'
        '<bpmn:lane id="L2" name="office"/></bpmn:childLaneSet></bpmn:lane></bpmn:laneSet>',
    )
    assert Process.load(write(tmp_path, shop=shop)).parties == ("till", "office", "lab")


def test_protection_is_found_where_modellers_put_it(tmp_path):
    shop = SHOP.replace(
        "<bpmn:documentation>kind: protect</bpmn:documentation>",
        "<bpmn:extensionElements><x:ProtectConfidentiality xmlns:x='urn:pe'/></bpmn:extensionElements>",
    )
    assert Process.load(write(tmp_path, shop=shop)).disclosure().words()["answers, shares"] == ("O", "H", "S")


def test_a_file_that_is_no_model_is_not_read_to_its_end(tmp_path):
    path = write(tmp_path)
    path.write_text(path.read_text() + " " * 2**22)
    with pytest.raises(ParameterError, match="longer than 4 MB: that is not a process"):
        Process.load(path)


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ('<bpmn:startEvent id="s"/>', '<bpmn:exclusiveGateway id="g" name="ok?"/>', UnsupportedError,
         "<exclusiveGateway> 'ok\\?' is outside the subset"),
        ('<bpmn:startEvent id="s"/>', '<bpmn:subProcess id="g"/>', UnsupportedError, "<subProcess>"),
        ('<bpmn:startEvent id="s"/>', '<bpmn:boundaryEvent id="g"/>', UnsupportedError, "<boundaryEvent>"),
        ("<bpmn:sourceRef>D1", "<bpmn:sourceRef>D9", ParameterError, "task 'protect' reads or makes 'D9'"),
        ('name="shares" sourceRef', 'name="letters" sourceRef', ParameterError, "name it after the data object"),
        ('targetRef="Tadd up"', 'targetRef="Tnobody"', ParameterError, "'Tnobody', which is no pool and no task"),
        ("kind: protect", "kind: protects", ParameterError, "did you mean 'protect'"),
        ("<bpmn:incoming>f</bpmn:incoming>", "<bpmn:multiInstanceLoopCharacteristics/>", UnsupportedError,
         "<multiInstanceLoopCharacteristics>"),
        ("</bpmn:definitions>", "<bpmn:choreography id='c'/></bpmn:definitions>", UnsupportedError, "<choreography>"),
        ("<?xml version=\"1.0\"?>", "<!DOCTYPE x [<!ENTITY a 'b'>]>", ParameterError, "document type or entities"),
        ("</bpmn:definitions>", "", ParameterError, "is not XML"),
        ("bpmn:definitions", "bpmn:model", ParameterError, "no BPMN 2.0"),
        ("http://www.omg.org/spec/BPMN/20100524/MODEL", "urn:other", ParameterError, "no BPMN 2.0"),
        ('<bpmn:startEvent id="s"/>', '<bpmn:startEvent id="s"><bpmn:dataOutputAssociation/></bpmn:startEvent>',
         UnsupportedError, "<startEvent> 's': <dataOutputAssociation>"),
        ('<bpmn:startEvent id="s"/>', '<bpmn:endEvent id="e"><bpmn:dataInputAssociation/></bpmn:endEvent>',
         UnsupportedError, "<endEvent> 'e': <dataInputAssociation>"),
        ('<bpmn:startEvent id="s"/>', '<bpmn:sequenceFlow id="g"><bpmn:conditionExpression/></bpmn:sequenceFlow>',
         UnsupportedError, "<sequenceFlow> 'g': <conditionExpression>"),
        ('<bpmn:startEvent id="s"/>', '<bpmn:association id="g" sourceRef="D1" targetRef="Tprotect"/>',
         UnsupportedError, "<association> 'g' joins a data object"),
        ("<bpmn:targetRef>p</bpmn:targetRef>", "<bpmn:targetRef>p</bpmn:targetRef><bpmn:assignment/>",
         UnsupportedError, "<dataInputAssociation> .*<assignment>"),
        ('processRef="P2"/>', 'processRef="P2"><bpmn:participantMultiplicity/></bpmn:participant>',
         UnsupportedError, "<participant> 'lab': <participantMultiplicity>"),
        ('name="lab"', 'name="shop"', ParameterError, "two pools or lanes are called 'shop'"),
        ("kind: protect", "kind: &amp;a protect\nepsilon: *a", ParameterError, "aliases"),
    ],
)  # fmt: skip
def test_what_is_outside_the_subset_is_refused_by_its_element(tmp_path, old, new, error, message):
    path = write(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(error, match=message):
        Process.load(path)
