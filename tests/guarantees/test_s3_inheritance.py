"""S3: which ids an out-of-line call takes from its caller."""

from __future__ import annotations

from tests.guarantees.programs import scope


def test_only_the_ids_that_the_caller_holds_are_joined() -> None:
    found = scope("""
    main(x):
      y = permute(x) #0  at jit(run)/permute
      a = compute(y)  at jit(run)/compute_on
      b = compute(a)  at jit(run)/compute_on
      return b
    compute(x):
      y = sine(x) #0  at sine
      z = cosine(y) #1  at cosine
      return z
    """)
    assert found.ids == {
        "permute": 0,
        "compute.0/sine": 0,
        "compute.0/cosine": 1,
        "compute.1/sine": 0,
        "compute.1/cosine": 2,
    }


def test_a_caller_that_was_entered_with_the_id_hands_it_on() -> None:
    found = scope("""
    main(x):
      y = permute(x) #0  at jit(run)/permute
      z = normal(y) #0  at jit(run)/jit(normal)
      return z
    normal(x):
      y = threefry(x)  at threefry2x32
      return y
    threefry(x):
      y = sine(x) #0  at sine
      return y
    """)
    assert not found.changed


def test_the_block_of_a_tagged_loop_hands_it_on() -> None:
    found = scope("""
    main(x):
      a = while 2 v(x): #0  at jit(run)/while
        y = cumsum(v)  at jit(run)/while/body/cumsum
        z = cumsum(y)  at jit(run)/while/body/cumsum
        yield z
      return a
    cumsum(x):
      y = sine(x) #0  at sine
      return y
    """)
    assert not found.changed


def test_also_where_the_loop_has_got_a_new_id() -> None:
    """The group in the loop goes along, so that a second run says the same."""
    found = scope("""
    main(x):
      a = outer(x)  at jit(run)/jit(outer)
      b = outer(a)  at jit(run)/jit(outer)
      return b
    outer(x):
      a = while 2 v(x): #0  at while
        y = cumsum(v)  at while/body/cumsum
        z = cumsum(y)  at while/body/cumsum
        yield z
      return a
    cumsum(x):
      y = sine(x) #0  at sine
      return y
    """)
    loops = [group for path, group in found.ids.items() if "cumsum" in path]
    assert loops == [0, 0, 1, 1]


def test_a_loop_in_a_body_that_was_entered_hands_it_on() -> None:
    found = scope("""
    main(x):
      z = normal(x) #0  at jit(run)/jit(normal)
      return z
    normal(x):
      a = while 2 v(x):  at while
        y = cumsum(v)  at while/body/cumsum
        z = cumsum(y)  at while/body/cumsum
        yield z
      return a
    cumsum(x):
      y = sine(x) #0  at sine
      return y
    """)
    assert not found.changed
