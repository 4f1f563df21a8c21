"""Small domains of our own, each with one construct beyond STRIPS, and a problem for all."""

from __future__ import annotations

START = """(define (domain greenhouse) (:requirements :adl :derived-predicates)
  (:types bed)
  (:predicates (at ?b - bed) (near ?a ?b - bed) (dry ?b - bed) (open ?b - bed) (tap-on) (safe))
  (:action walk :parameters (?a ?b - bed)
    :precondition (and (at ?a) (near ?a ?b)) :effect (and (at ?b) (not (at ?a))))
  (:action lift :parameters (?b - bed) :precondition (at ?b) :effect (open ?b))
"""
DOMAINS = {
    "conditional effects": START
    + """(:action water :parameters () :precondition (not (tap-on))
    :effect (and (tap-on) (forall (?b - bed) (when (open ?b) (not (dry ?b))))))
  (:action close :parameters () :effect (and (not (tap-on)) (forall (?b - bed) (not (open ?b))))))
""",
    "quantifiers": START
    + """(:action water :parameters (?b - bed)
    :precondition (and (at ?b) (open ?b) (forall (?c - bed) (or (= ?c ?b) (not (open ?c)))))
    :effect (not (dry ?b)))
  (:action close :parameters (?b - bed) :precondition (exists (?a - bed) (at ?a))
    :effect (not (open ?b))))
""",
    "derived predicates": START
    + """(:derived (safe) (forall (?b - bed) (not (open ?b))))
  (:action water :parameters (?b - bed)
    :precondition (and (at ?b) (not (safe))) :effect (when (open ?b) (not (dry ?b))))
  (:action close :parameters (?b - bed) :precondition (not (safe)) :effect (not (open ?b))))
""",
    "many cases": START
    + """(:action water :parameters () :precondition (not (tap-on))
    :effect (and (tap-on) (forall (?b ?c - bed) (when (near ?b ?c) (and
      (when (and (open ?b) (dry ?b)) (open ?c)) (when (at ?c) (not (dry ?c))))))))
  (:action close :parameters () :effect (and (not (tap-on)) (forall (?b - bed) (not (open ?b))))))
""",
}
PROBLEM = """(define (problem three) (:domain greenhouse) (:objects b1 b2 b3 - bed)
  (:init (at b1) (near b1 b2) (near b2 b3) (near b3 b1) (dry b1) (dry b2) (dry b3) (open b3))
  (:goal (and (at b3) (open b1) (open b2))))
"""
