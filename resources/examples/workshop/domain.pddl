; Workpieces go through their steps in a fixed order; each step calls for one tool. There is
; one of each tool, and a machine's tool can only be changed while no piece is clamped in it.
(define (domain workshop)
  (:requirements :strips :typing)
  (:types piece machine tool stage)
  (:predicates
    (at-stage ?piece - piece ?stage - stage)
    (next-stage ?stage ?next - stage)
    (calls-for ?piece - piece ?stage - stage ?tool - tool)
    (fits ?tool - tool ?machine - machine)
    (loose ?piece - piece)
    (clamped ?piece - piece ?machine - machine)
    (open ?machine - machine)
    (racked ?tool - tool)
    (mounted ?tool - tool ?machine - machine)
    (bare ?machine - machine))

  (:action mount
    :parameters (?tool - tool ?machine - machine)
    :precondition (and (racked ?tool) (bare ?machine) (open ?machine) (fits ?tool ?machine))
    :effect (and (not (racked ?tool)) (not (bare ?machine)) (mounted ?tool ?machine)))

  (:action dismount
    :parameters (?tool - tool ?machine - machine)
    :precondition (and (mounted ?tool ?machine) (open ?machine))
    :effect (and (not (mounted ?tool ?machine)) (racked ?tool) (bare ?machine)))

  (:action clamp
    :parameters (?piece - piece ?machine - machine)
    :precondition (and (loose ?piece) (open ?machine))
    :effect (and (not (loose ?piece)) (not (open ?machine)) (clamped ?piece ?machine)))

  (:action release
    :parameters (?piece - piece ?machine - machine)
    :precondition (clamped ?piece ?machine)
    :effect (and (not (clamped ?piece ?machine)) (loose ?piece) (open ?machine)))

  (:action work
    :parameters (?piece - piece ?machine - machine ?tool - tool ?stage ?next - stage)
    :precondition (and
      (clamped ?piece ?machine) (mounted ?tool ?machine)
      (at-stage ?piece ?stage) (next-stage ?stage ?next) (calls-for ?piece ?stage ?tool))
    :effect (and (not (at-stage ?piece ?stage)) (at-stage ?piece ?next))))
