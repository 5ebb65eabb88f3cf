"""SCRAM against the example of RFC 7677, and against whoever knows less than the token."""

import base64
import hashlib
import hmac

import pytest

from sordino.server import scram

# RFC 7677, section 3.
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
NONCE = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
EXAMPLE = scram.Exchange(
    "n=user,r=rOprNGfwEbeRWgbNEkqO", "n,,", NONCE, f"r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
PROOF = f"c=biws,r={NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()


def client_proof(password, exchange, header=b"n,,"):
    """From the definition: what a client that knows a password sends last."""
    fields = dict(part.split("=", 1) for part in exchange.answer.split(","))
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(fields["s"]), int(fields["i"]))
    key = hmac.digest(salted, b"Client Key", "sha256")
    without = f"c={base64.b64encode(header).decode()},r={fields['r']}"
    said = f"{exchange.bare},{exchange.answer},{without}".encode()
    signature = hmac.digest(hashlib.sha256(key).digest(), said, "sha256")
    proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
    return f"{without},p={base64.b64encode(proof).decode()}".encode()


def test_the_example_of_the_standard():
    verifier = scram.make_verifier("pencil", SALT)
    assert scram.finish(EXAMPLE, PROOF, [verifier]) == (0, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def test_the_right_one_of_several_tokens_is_found():
    keys = [scram.make_verifier(text, SALT) for text in ("one", "two", "three")]
    exchange = scram.begin(b"n,,n=ann,r=abc", SALT)
    assert scram.finish(exchange, client_proof("two", exchange), keys)[0] == 1


@pytest.mark.parametrize("password", ["", "pencil ", "Pencil"])
def test_a_wrong_password_is_refused(password):
    exchange = scram.begin(b"n,,n=user,r=abc", SALT)
    with pytest.raises(scram.ScramError):
        scram.finish(exchange, client_proof(password, exchange), [scram.make_verifier("pencil", SALT)])


def test_nobody_is_let_in_where_there_is_no_token():
    exchange = scram.begin(b"n,,n=user,r=abc", SALT)
    with pytest.raises(scram.ScramError):
        scram.finish(exchange, client_proof("pencil", exchange), [])


def test_a_proof_is_of_one_exchange_only():
    verifier = scram.make_verifier("pencil", SALT)
    first, second = (scram.begin(b"n,,n=user,r=abc", SALT) for _ in range(2))
    assert first.nonce != second.nonce
    with pytest.raises(scram.ScramError):
        scram.finish(second, client_proof("pencil", first), [verifier])


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\xff",
        b"p=tls-unique,,n=a,r=b",
        b"n,",
        b"n,,",
        b"n,,n=a",
        b"n,,m=x,r=b",
        b"n,a,n=a,r=b",
        b"n,,nab",
    ],
)
def test_a_malformed_beginning_is_refused(message):
    with pytest.raises(scram.ScramError):
        scram.begin(message, SALT)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"c=biws",
        b"c=biws,r=x,p=",
        PROOF[:-4],
        PROOF.replace(b"biws", b"eSws"),
        PROOF + b"!",
        b"\xff,p=aaaa",
    ],
)
def test_a_malformed_end_is_refused(message):
    with pytest.raises(scram.ScramError):
        scram.finish(EXAMPLE, message, [scram.make_verifier("pencil", SALT)])


def test_salts_of_nobody_look_like_salts_and_stay_the_same():
    assert (
        scram.mock_salt(b"secret", "eve")
        == scram.mock_salt(b"secret", "eve")
        != scram.mock_salt(b"secret", "bob")
    )
    assert len(scram.mock_salt(b"secret", "eve")) == len(SALT)
